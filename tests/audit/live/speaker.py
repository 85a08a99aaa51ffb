"""Programs on the live protocol for the tests: DP-SGD as it should be, with planted bugs, and with bad manners.

Run as ``python speaker.py MODE``. An algorithm that names a law is one release by that law ("half": with half of its
sensitivity), and ``line X`` says that line. It uses nothing of dpassay: it stands for somebody else's code.
"""

import json
import math
import os
import random
import sys
import time
from contextlib import suppress
from pathlib import Path

LAST = []  # of the case before, where it is remembered
FIRST = []  # this process was the first one
MODE = sys.argv[1] if len(sys.argv) > 1 else "good"


def say(message):
    print(message if isinstance(message, str) else json.dumps(message), flush=True)


def hear():
    return json.loads(sys.stdin.readline() or sys.exit(0))


def ask(**message):
    say(message)
    return hear()


def dp_sgd(problem, schedule):
    """Clipped gradients of a batch; every record's gradient is its row."""
    rows, clip, n, d = problem["rows"], schedule["clip"], len(problem["rows"]), len(problem["rows"][0])
    size, w = schedule["batch_size"] or n, LAST[:] or [0.0] * d
    std = 2 * clip / size * schedule["noise"]["by_label"]["gradient"]
    for _ in range(schedule["steps"]):
        batches, indices = [], range(n)
        if size < n:
            drawn = ask(ask="batch", label="batch", n=n, size=size)
            batches, indices = [drawn["batch"]], drawn["indices"]
        mean = [0.0] * d
        for i in indices:
            norm = math.hypot(*rows[i])
            factor = 1.0 if MODE == "no clip" else clip / max(norm, clip)
            mean = [m + x * factor / size for m, x in zip(mean, rows[i], strict=True)]
        if MODE == "branch" and sum(mean) > 0:
            ask(ask="reveal", label="went up", value=None)
        manners(mean, rows)
        said = {"half the noise": std / 2, "infinite noise": "infinity"}.get(MODE, std)
        sent = {"ask": "gaussian", "label": "gradient", "query": mean, "std": said, "sensitivity": 2 * clip / size}
        if MODE == "wrong batch":
            batches = []
        released = ask(**sent, batches=batches)["value"]
        if MODE == "un-noised use" or leaks(rows):
            released = mean
        w = [a - schedule["learning_rate"] * b for a, b in zip(w, released, strict=True)]
    if MODE == "remembers":
        LAST[:] = w
    return w


def leaks(rows):
    """Is the true mean used now? It hangs on something beside the protocol: variables, files, processes."""
    home, text = Path(os.environ.get("HOME", "/")), json.dumps(rows)
    mine, data = home / f"alive-{os.getpid()}", home / "data"
    match MODE:
        case "environment variable":
            return os.environ.get("SPEAKER") == "leaks"
        case "parent":  # started by Python as an audit is, and not by a shell
            return Path(f"/proc/{os.getppid()}/exe").resolve() != Path("/proc/self/exe").resolve()
        case "first process":
            with suppress(FileExistsError):
                (home / "first").touch(exist_ok=False)
                FIRST.append(True)
            return bool(FIRST)
        case "first data":
            if not data.exists():
                data.write_text(text)
            return data.read_text() == text
        case "alone":
            mine.touch()
            return not any(one != mine and Path("/proc", one.name[6:]).exists() for one in home.glob("alive-*"))
        case "scratch file of its own":  # no leak: nobody else reads it
            mine.write_text(text)
            return mine.read_text() != text
    return False


WRONG = {  # lines that are said within a case
    "garbage": "hello, world",
    "missing field": {"ask": "gaussian", "label": "g", "query": 1.0},
    "unknown batch": {"ask": "gaussian", "label": "g", "query": 1, "std": 1, "sensitivity": 1, "batches": [5]},
    "batch too large": {"ask": "batch", "label": "all", "n": 2, "size": 5},
}


def manners(mean, rows):
    """What else a program may do within a case: die, hang, flood, or say what the protocol does not know."""
    again = {"ask": "reveal", "label": "again", "value": 1}
    match MODE:
        case _ if MODE in WRONG:
            say(WRONG[MODE])
            hear()
        case "crash":
            sys.stderr.write("Traceback: all is lost\n")
            os.abort()
        case "crash on large rows" if any(abs(x) > 2 for row in rows for x in row):
            sys.exit(7)
        case "silent":
            time.sleep(60)
        case "endless line":
            while True:
                sys.stdout.write("[" * 65536)
        case "endless lines":
            while True:
                say(again)
        case "endless calls":
            while True:
                ask(**again)
        case "noisy":
            sys.stderr.write("progress " * 100_000)
        case "half line":
            sys.stdout.write('{"ask": "gaus')
            sys.stdout.flush()
            os._exit(0)
        case "closes its output":
            os.close(1)
            time.sleep(60)
        case "draws by itself":
            mean[0] += random.random()
        case "wider on one side" if rows[0][0] > 0:
            mean.append(0.0)
        case "nan":
            mean[0] = math.nan
        case "fork" | "fork and go":
            divides(Path(sys.argv[2]))


def divides(place):
    """A child that lives on."""
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    with place.open("a") as file:
        file.write(f"{child}\n")
    if MODE == "fork and go":
        os._exit(0)


def above_threshold(problem):
    """Queries that are computed when they are asked for; more than 100 are never needed."""
    rows = problem["rows"]
    scales = {"threshold": 0.0, "threshold_scale": 8.0, "query_scale": 16.0, "sensitivity": 4.0}
    heard = ask(ask="above_threshold", label="search", count=100, **scales)
    while "query" in heard:
        if MODE == "crash in a query" and heard["query"] == 3:
            sys.exit(9)
        value = sum(max(-1.0, min(1.0, row[0])) for row in rows) + heard["query"]
        say({"query": value})
        heard = hear()
    return heard["value"]


def laws(rows):
    """The lines that ask for a release of each law on rows of numbers in [0, 1]; the sensitivities are right."""
    total, count = sum(row[0] for row in rows), sum(row[0] > 0.5 for row in rows)
    number = {"query": total, "scale": 2.0, "sensitivity": 1.0}
    whole, ends = {**number, "query": count}, {"lower": 0.0, "upper": len(rows)}
    chances = (0.75, 0.25) if rows[0][0] > 0.5 else (0.25, 0.75)
    choice = {"utilities": [count, len(rows) - count, 1.0], "rate": 0.25, "sensitivity": 1.0}
    density = {"edges": [0.0, *sorted(row[0] for row in rows), 1.0],
               "utilities": [-abs(i - len(rows) / 2) for i in range(len(rows) + 1)]}  # fmt: skip
    fields = {
        "gaussian": {"query": total, "std": 2.0, "sensitivity": 1.0},
        "laplace": number,
        "geometric": whole,
        "discrete_gaussian": whole,
        "truncated_laplace": number | ends,
        "folded_laplace": number | ends,
        "bounded_laplace": number | ends,
        "truncated_geometric": whole | ends,
        "folded_geometric": whole | ends | {"upper": "infinity"},
        "exponential": choice,
        "permute_and_flip": choice,
        "categorical": {"log_probabilities": [math.log(p) for p in chances], "sensitivity": None},
        "intervals": choice | density,
        "bingham": {"query": [[count, 0.5], [0.5, 0.0]], "rate": 0.25, "sensitivity": 1.0},
    }
    return {law: {"ask": law, "label": "released", **said} for law, said in fields.items()}


def answer(algorithm, problem, schedule):
    """The end of a case, or a line that is none."""
    if algorithm.startswith("line "):
        return algorithm.removeprefix("line ")
    if MODE == "refuses":
        return {"refused": "batch_size 2 is even"}
    if MODE == "unsupported":
        return {"unsupported": "only dp_ftrl"}
    if schedule is not None:
        return {"output": dp_sgd(problem, schedule)}
    if "rows" in problem:
        return {"output": above_threshold(problem)}
    said = laws(problem)[algorithm.split()[0]]
    if "half" in algorithm:
        said["sensitivity"] /= 2
    return {"output": ask(**said)["value"]}


def main():
    """Greet, run cases, end."""
    if MODE == "dies at once":
        sys.exit("no licence")
    case = None
    while True:
        heard = hear()
        if heard["do"] == "hello":
            greeting = {"dpassay": 2 if MODE == "version 2" else 1, "program": "speaker", "again": MODE != "forgets"}
            say("hi" if MODE == "hi" else greeting)
            if MODE == "does not read":
                time.sleep(60)
        elif heard["do"] == "end":
            if MODE == "does not end":
                time.sleep(60)
            return
        else:
            case = heard if heard["do"] == "case" else case
            say(answer(case["algorithm"], case["problem"], case["schedule"]))


if __name__ == "__main__":
    main()
