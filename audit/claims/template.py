"""The first claims file of a project: ``dpassay init``."""

from __future__ import annotations

TEMPLATE = """\
# What this project claims of its mechanisms. `dpassay check` holds the code to it.
version = 1

# Chance that any claim below that holds is called violated all the same; the claims share it equally.
false_alarms = 0.05

# An algorithm of your own: MODULE:NAME of a function run(problem, tape), or plain NumPy code f(data, rng).
{own}
# An algorithm of the catalogue (`dpassay list`).
[[claim]]
name = "dp-sgd"
algorithm = "baselines/dp_sgd"
variant = "full-batch"
epsilon = 2.0
delta = 1e-5
effort = "quick"              # quick: 400 runs and 100 examples; full: 1,000 and 150 (the default)

# A function or a program that is only called:
# [[claim]]
# name = "service"
# command = "./mechanism"     # or function = "mine:mechanism", called as mechanism(dataset, rng)
# dataset = "d.json"
# neighbour = "d2.json"
# epsilon = 1.0
# delta = 0.0
# samples = 10000
# power = 2.0                 # 'consistent' if noise 2 times too small would have been seen in so many samples; without
#                             # it a claim that is not refuted stays 'inconclusive', and `dpassay check` exits with 3

# Stored outputs on D and on its neighbour D':
# [[claim]]
# name = "released"
# outputs = ["d.npy", "d2.npy"]
# gdp = 0.5                   # in place of epsilon and delta; or curve = [[1.0, 1e-5], [2.0, 1e-9]]
# power = 2.0                 # as above

# Stored scores of an attack, on D and on D'. Nobody knows how good the attack is, so `power` is not for them: a claim
# that they do not refute stays 'inconclusive'. As a warning it does not change the exit code.
# [[claim]]
# name = "attack"
# scores = ["attack-d.npy", "attack-d2.npy"]
# epsilon = 1.0
# delta = 1e-5
# severity = "warning"
"""
OWN = """\
[[claim]]
name = "{name}"
algorithm = "{algorithm}"
space = "{space}"         # the data that the claim covers; without it rows of length 1 at most
epsilon = 1.0
delta = 1e-5
# relation = "replace-one"    # default: that of the space
# seed = 0
severity = "error"            # a warning does not change the exit code
owner = ""                    # shown where the claim fails
cite = ""                     # where it is stated, in your words
"""


def first_file(algorithm: str | None, space: str | None) -> str:
    """The text of a first ``claims.toml``; the block of one's own algorithm is a comment if none is named."""
    name = algorithm.partition(":")[2].replace(".", "-") if algorithm else "my-mechanism"
    block = OWN.format(name=name, algorithm=algorithm or "mine:run", space=space or "mine:space")
    if algorithm and not space:
        block = block.replace('space = "', '# space = "')
    if not algorithm:
        block = "".join(f"# {line}\n" for line in block.splitlines())
    return TEMPLATE.format(own=block)
