"""Certificates of rows whose algorithm has a planted bug: one line a bug and row, then the counts.

Run: python tests/audit/certify/planted_bugs.py [NAME [ROWS [PART PARTS]]]
Each bug is imported in a fork of its own, in place of the file it changes.
"""

import importlib.machinery
import json
import os
import subprocess
import sys
from collections import Counter

PLAN = """
import json, sys
from dpassay.audit.mutate.bugs import checkout_folder, read_patches
from dpassay.audit.mutate.campaign import choose, reference_folder
from dpassay.audit.mutate.rows import near, reaches, rows_of
reference = reference_folder()
bugs = choose(read_patches(checkout_folder(reference)), sys.argv[1], 33, 0)
reach = reaches(reference, near({bug.file for bug in bugs}))
print(json.dumps([
    {**vars(bug), "keys": [bug.row] if bug.row else
     [case.key for case in rows_of(reference, reach, bug.file, bug.line, int(sys.argv[2]))]}
    for bug in bugs
]))
"""


def plan(name="", rows=1):
    """The bugs as dictionaries, with the keys of at most so many rows that run the changed line."""
    made = subprocess.run([sys.executable, "-c", PLAN, name, str(rows)], check=True, capture_output=True, text=True)
    return json.loads(made.stdout)


def preload():
    """What every fork needs and no bug changes."""
    import joblib  # noqa: F401
    import numpy.testing  # noqa: F401
    import pydantic.dataclasses  # noqa: F401
    import scipy.linalg
    import scipy.optimize
    import scipy.special
    import scipy.stats  # noqa: F401


def certified(bug):
    """Per row: key, claimed, certified (None: open), accounted, why; or how the row could not be built."""
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        with os.fdopen(read) as answer:
            text = answer.read()
        os.waitpid(child, 0)
        return [json.loads(line) for line in text.splitlines()]
    os.close(read)
    try:
        with os.fdopen(write, "w") as answer:
            _in_the_fork(bug, lambda found: answer.write(json.dumps(found) + "\n") and answer.flush())
    finally:
        os._exit(0)


def _in_the_fork(bug, say):
    real = importlib.machinery.SourceFileLoader.get_code

    def get_code(self, name):
        if self.path.endswith("/reference/" + bug["file"]):
            return compile(bug["text"], self.path, "exec")
        return real(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code
    planted = sys.modules["dpassay.reference._planted"] = importlib.import_module("dpassay.audit.mutate.planted")
    total = planted._total
    planted._total = lambda value, depth: value.sum() if hasattr(value, "assumed") else total(value, depth)
    from dpassay.audit.certify.catalogue import certify_instance
    from dpassay.reference.catalogue import find

    for key in bug["keys"]:
        (case,) = find(key)
        try:
            instance = case.build()
            transcript, _ = instance.longest_run()
            found = certify_instance(instance, case.claim, transcript, case.unreached)
            from dpassay.reference.accounting.cost import account

            accounted = account(transcript, case.claim.relation).epsilon(case.claim.delta)
            say([key, case.claim.epsilon, found.epsilon, accounted, found.open])
        except Exception as error:
            say([key, case.claim.epsilon, None, None, f"not built: {type(error).__name__}: {error}"])


def kind(one):
    """What the certificate of a row says of its claim."""
    _, claimed, epsilon, _, why = one
    if epsilon is None:
        return "not built" if why.startswith("not built") else "open"
    return "within" if epsilon <= claimed * (1 + 1e-6) else "exceeds"


def main(name="", rows=1, part=0, parts=1):
    """One line a bug and row, then the counts."""
    bugs = plan(name, rows)[int(part) :: int(parts)]
    preload()
    counts = Counter()
    for bug in bugs:
        for one in certified(bug):
            counts[kind(one)] += 1
            print(f"{kind(one)} | {bug['name']} | {bug['must']} {bug['only_noise']} | {one}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
