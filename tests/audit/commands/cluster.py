"""A program: audits on a local Dask cluster of separate processes, kills a worker in the middle, compares the rows.

Prints how many rows were kept when the worker was killed.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from distributed import Client, LocalCluster

from dpassay.audit.running.store import Store

CASES = ["baselines/dp_sgd", *(f"output_perturbation/algorithm{k}@repaired" for k in (1, 2, 3))]
WORDS = [sys.executable, "-m", "dpassay.audit", "audit", *CASES, "--runs", "150", "--pilot", "100", "--examples", "9"]


def rows(path):
    found = json.loads(Path(path).read_text())["rows"]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in found]


def kept():
    path = Path(".cluster.json.store")
    if not path.exists():
        return 0
    return len(Store(path, "--output").records("row"))


def main():
    alone = subprocess.run([*WORDS, "--jobs", "1", "--output", "alone.json"], check=False, stdout=subprocess.DEVNULL)
    os.environ["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] = "False"
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        words = [*WORDS, "--scheduler", cluster.scheduler_address, "--output", "cluster.json"]
        with Client(cluster) as client:
            before = client.run(os.getpid)
            running = subprocess.Popen(words, stdout=subprocess.DEVNULL)
            while kept() < 2 and running.poll() is None:
                time.sleep(0.02)
            seen = kept()
            assert running.poll() is None, "it was over before a worker could be killed"
            os.kill(next(iter(before.values())), signal.SIGKILL)
            code = running.wait()
            after = client.run(os.getpid)
    assert set(after.values()) != set(before.values())
    assert code == alone.returncode, (code, alone.returncode)
    for one, other in zip(rows("cluster.json"), rows("alone.json"), strict=True):
        differing = [name for name in one if one[name] != other[name]]
        assert not differing, [(name, one[name], other[name]) for name in differing]
    print(seen, "of", len(rows("alone.json")))


if __name__ == "__main__":
    main()
