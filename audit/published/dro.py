"""Tables 2 and 3 of the paper ``dro`` as data, and what each cell of Table 2 says about its claim.

Members and non-members are neither named nor counted in the paper. Section 5.1 trains on CIFAR10-ST: the last 100
images of each class of the first half, all 5,000 of the other half, "the test data unchanged", delta = n^-1.1, five
runs. So the sets are taken to be the 25,500 training images and the 10,000 test images, with two groups, the halves of
the classes, within which training and test images are taken as exchangeable.
"""

from pathlib import Path
from typing import Any

from dpassay.reference.files import parse_toml, read_text
from dpassay.reference.guarantee import approx_dp

from .assessment import Assessment, Group, Published, assess

_DATA: dict[str, Any] = parse_toml(read_text(Path(__file__).with_name("dro.toml"), "table"), "dro.toml")
EPSILONS = (0.1, 1.0, 3.0, 5.0, 8.0, 10.0)
TABLE_2: dict[str, list[list[float]]] = _DATA["table_2"]  # AUC: mean and deviation over five runs
TABLE_3_EPSILONS = (0.5, 1.0, 5.0, 10.0)
TABLE_3: dict[str, dict[str, list[float]]] = _DATA["table_3"]  # accuracy in percent
TABLE_3_NON_PRIVATE = {"CIFAR10-ST": 67.58}  # printed in the column of DP Recursive-SPIDER
GROUPS: tuple[Group, ...] = ((500, 5_000), (25_000, 5_000))  # first and second half of the classes
TRAINING, TEST = 25_500, 10_000
DELTA = TRAINING**-1.1  # Section 5.1
ASSUMED: list[str] = _DATA["assumed"]
CONFOUNDS: list[str] = _DATA["confounds"]


def table_2(confidence: float = 0.95) -> list[tuple[str, Assessment]]:
    """All twelve cells with their algorithms, in the order of the table."""
    cells = []
    for algorithm, row in TABLE_2.items():
        for epsilon, (mean, _) in zip(EPSILONS, row, strict=True):
            claim = approx_dp(epsilon, DELTA, "replace-one", "Table 2")
            printed = Published("auc", mean, TRAINING, TEST, groups=GROUPS)
            cells.append((algorithm, assess(printed, claim, confidence)))
    return cells
