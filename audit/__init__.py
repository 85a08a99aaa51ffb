"""What leaks: empirical lower bounds on the realised privacy loss.

White box: `likelihood` (its samples come from `losses`), joined with claim and accounting in `sandwich`, over the
catalogue in `suite`; `neighbours` searches the worst pair, `mutants` plants bugs. Grey box: `scores/`, `attacks/`.
Black box: `blackbox/`, `floating_point`. Any time: `sequential`, `session`. What may decide a verdict: `results`.
Papers: `published/` reads printed numbers, `reproductions/` reruns experiments. The command line: `cli`, `commands/`.
"""

import os

# Learners' threads that wait for each other spin by default: on a busy machine small audits then take 20 times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
