"""A program that asks for one release of every law: the algorithm that it is told names the law.

It uses nothing of dpassay: it stands for somebody else's code.
"""

import json
import math
import sys


def asked(law, rows):
    """The line that asks for a release of this law on these rows of numbers in [0, 1]; the sensitivity is right."""
    total = sum(row[0] for row in rows)
    count = sum(row[0] > 0.5 for row in rows)
    number = {"query": total, "scale": 2.0, "sensitivity": 1.0}
    whole = {"query": count, "scale": 2.0, "sensitivity": 1}
    ends = {"lower": 0.0, "upper": len(rows)}
    chances = (0.75, 0.25) if rows[0][0] > 0.5 else (0.25, 0.75)
    utilities = [count, len(rows) - count, 1.0]
    fields = {
        "gaussian": {"query": total, "std": 2.0, "sensitivity": 1.0},
        "laplace": number,
        "geometric": whole,
        "discrete_gaussian": whole,
        "truncated_laplace": {**number, **ends},
        "folded_laplace": {**number, **ends},
        "bounded_laplace": {**number, **ends},
        "truncated_geometric": {**whole, **ends},
        "folded_geometric": {**whole, "lower": 0.0, "upper": "infinity"},
        "exponential": {"utilities": utilities, "rate": 0.25, "sensitivity": 1.0},
        "permute_and_flip": {"utilities": utilities, "rate": 0.25, "sensitivity": 1.0},
        "categorical": {
            "log_probabilities": [math.log(p) for p in chances],
            "sensitivity": None,
        },
        "intervals": {
            "edges": [0.0, *sorted(row[0] for row in rows), 1.0],
            "utilities": [-abs(i - len(rows) / 2) for i in range(len(rows) + 1)],
            "rate": 0.25,
            "sensitivity": 1.0,
        },
        "bingham": {"query": [[count, 0.5], [0.5, 0.0]], "rate": 0.25, "sensitivity": 1.0},
    }
    return {"ask": law, "label": "released", **fields[law]}


def main():
    """Greet, run cases, end."""
    for text in sys.stdin:
        heard = json.loads(text)
        if heard["do"] == "hello":
            line = {"dpassay": 1, "program": "every law"}
        elif heard["do"] == "case":
            law = heard["algorithm"]
            if law.startswith("line "):
                print(law.removeprefix("line "), flush=True)
                continue
            ask = asked(law.split()[0], heard["problem"])
            if "half" in law:
                ask["sensitivity"] /= 2
            print(json.dumps(ask), flush=True)
            line = {"output": json.loads(sys.stdin.readline())["value"]}
        else:
            return
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
