"""What is found in diffprivlib 0.6.6, and how anyone can see it.

Its documentation states no neighbour relation. Each finding says for which neighbours it is shown; where a claim holds
for records that are added or removed, or for records that are replaced, that is no finding (it is in the table).
"""

from __future__ import annotations

from .known import Known

_ISSUES = "https://github.com/IBM/differential-privacy-library/issues/"

KNOWN = (
    Known(
        "linear-regression-square",
        ("LinearRegression", "LinearRegression, no intercept"),
        "LinearRegression takes the lower bound twice where the sensitivity of the sum of x^2 is computed. With "
        "bounds (0, 1) that sum is released without noise, for neighbours of either kind; coef_ is computed from it.",
        "not mentioned",
        _ISSUES + "105",
        """import numpy as np
from diffprivlib.models import LinearRegression
X, y = np.array([[0.5], [1.0], [0.25]]), np.array([0.0, 1.0, 1.0])
model = LinearRegression(epsilon=0.01, bounds_X=(0, 1), bounds_y=(0, 1), fit_intercept=False).fit(X, y)
print(model._obj_coefs[2], (X**2).sum())""",
        lambda seen: seen[0] == seen[1],
        "the sum of x^2 that the model keeps, and the exact one",
    ),
    Known(
        "linear-regression-budget",
        ("LinearRegression",),
        "LinearRegression with an intercept spends epsilon / (d + 1) on the means of X and as much again on those of "
        "y, but takes it off once: every record pays for epsilon (1 + 1 / (d + 1)).",
        "epsilon is called the privacy parameter of the model",
        _ISSUES + "104",
        """import numpy as np, diffprivlib.mechanisms.base as base
from diffprivlib.models import LinearRegression
spent, init = [], base.DPMechanism.__init__
base.DPMechanism.__init__ = lambda self, **k: (spent.append(k["epsilon"]), init(self, **k))[1]
LinearRegression(epsilon=1.0, bounds_X=(-1, 1), bounds_y=(-1, 1)).fit(np.zeros((9, 1)), np.zeros(9))
print(sum(spent))""",
        lambda seen: seen[0] > 1.4,
        "the sum of epsilon of all mechanisms of a fit with epsilon 1 and one feature",
    ),
    Known(
        "linear-regression-bounds",
        ("LinearRegression, no intercept",),
        "LinearRegression clips records to bounds_X and bounds_y only when it fits an intercept. Without one a record "
        "outside of the bounds moves the statistics without limit, and no warning is given.",
        "bounds are called bounds of the data; PrivacyLeakWarning is documented for data outside of them",
        "",
        """import numpy as np
from diffprivlib.models import LinearRegression
def square(x):
    X = np.array([[0.5]] * 99 + [[x]])
    model = LinearRegression(epsilon=1.0, bounds_X=(-1, 1), bounds_y=(-1, 1), fit_intercept=False)
    return model.fit(X, np.zeros(100))._obj_coefs[2].item()
print(square(1.0), square(1e6))""",
        lambda seen: seen[1] > 1e9 > seen[0],
        "the noisy sum of x^2 with a last record of 1, and of 1e6",
        varies=True,
    ),
    Known(
        "k-means-labels",
        ("KMeans",),
        "KMeans.labels_ and KMeans.inertia_ are computed from the records and the released centres, without noise, for "
        "neighbours of either kind. Centres alone may be published.",
        "both are listed as attributes of the model, without a warning",
        "",
        """import numpy as np
from diffprivlib.models import KMeans
X = np.random.default_rng(0).random((50, 2))
model = KMeans(2, epsilon=0.01, bounds=(0, 1)).fit(X)
distances = ((X[:, None] - model.cluster_centers_) ** 2).sum(-1)
print((model.labels_ == distances.argmin(1)).all(), model.inertia_ - distances.min(1).sum())""",
        lambda seen: seen[0] == 1 and abs(seen[1]) < 1e-9,
        "are labels_ exact, and how far inertia_ is from the exact sum",
    ),
    Known(
        "k-means-empty",
        ("KMeans",),
        "KMeans leaves the centre of an empty cluster where it is and draws no noise for it. Whether a cluster is "
        "empty shows in the centres, whatever epsilon is, for neighbours of either kind.",
        "not mentioned",
        "",
        """import numpy as np
from diffprivlib.models import KMeans
def outside(X):
    fits = [KMeans(2, epsilon=0.01, bounds=(0, 1)).fit(np.reshape(X, (-1, 1))) for _ in range(3000)]
    return np.mean([(abs(fit.cluster_centers_ - 0.5) > 0.375).all() for fit in fits])
print(outside([0.1, 0.1]), outside([0.1, 0.9]), outside([0.1, 0.1, 0.9]))""",
        lambda seen: seen[1] > 1.5 * seen[0] > 0 and seen[2] > 1.5 * seen[0],
        "how often both centres lie near the ends, at epsilon 0.01: two records in one place; one of them moved away; "
        "a third one added there",
        varies=True,
    ),
    Known(
        "gaussian-nb-sums",
        ("GaussianNB", "GaussianNB, both classes present"),
        "GaussianNB takes upper - lower as the sensitivity of the sum of a class. That holds while no record leaves or "
        "joins the class. A record whose label is replaced, or one that is removed, moves the sum by its whole value.",
        "not mentioned",
        "",
        """import numpy as np
from diffprivlib.models import GaussianNB
def share(y):
    fits = [GaussianNB(epsilon=1.0, bounds=(100, 101)).fit(np.full((20, 1), 100.5), y) for _ in range(2000)]
    return np.mean([fit.class_count_[0] == 10 and 100 < fit.theta_[0, 0] < 101 for fit in fits])
print(share([0] * 10 + [1] * 10), share([0] * 9 + [1] * 11))""",
        lambda seen: seen[0] > 0.03 and seen[1] < 0.002,
        "how often the noisy count is 10 and the mean lies inside of the bounds, before and after a label is replaced",
        varies=True,
    ),
    Known(
        "classes-from-data",
        ("GaussianNB", "LogisticRegression, no intercept"),
        "GaussianNB and LogisticRegression read the set of classes from the labels (classes_, the shape of all "
        "attributes, and an error if only one is left). A label that a single record has is told exactly.",
        "the trees take the argument classes and warn with PrivacyLeakWarning without it; these two do not",
        "",
        """import numpy as np
from diffprivlib.models import GaussianNB, LogisticRegression
X = np.zeros((5, 1))
for model in (GaussianNB(epsilon=0.01, bounds=(0, 1)), LogisticRegression(epsilon=0.01, data_norm=1)):
    print(model.fit(X, [0, 0, 1, 1, 1]).classes_, model.fit(X, [0, 0, 1, 1, 7]).classes_)""",
        lambda seen: seen == [0, 1, 0, 1, 7, 0, 1, 0, 1, 7],
        "classes_ before and after one label is replaced, for both models",
    ),
    Known(
        "logistic-regression-norm",
        ("LogisticRegression, no intercept, norm 1000, C 3e-5",),
        "Vector, and with it LogisticRegression, bounds the second derivative of the loss by 0.25 data_norm where it "
        "is 0.25 data_norm^2. For data_norm above 1 the change of variables costs more than is set aside.",
        "the thread holds the argument that the code follows: an eigenvalue is bounded by 2 c q for norm q, where the "
        "matrix is a product of two vectors of norm q",
        _ISSUES + "10",
        """import numpy as np
from diffprivlib.models import LogisticRegression
def near_zero(x):
    X, y = np.array([[0.0], [0.0], [x]]), [0, 1, 1]
    fits = [LogisticRegression(epsilon=0.5, data_norm=1000, C=3e-5, fit_intercept=False).fit(X, y) for _ in range(8000)]
    return np.mean([abs(fit.coef_[0, 0]) < 1e-3 for fit in fits])
print(near_zero(1000.0), near_zero(0.0))""",
        lambda seen: seen[0] > 3 * seen[1] > 0,
        "how often the coefficient is next to zero, at epsilon 0.5 (a factor of at most 1.65), with a record of 1000 "
        "and with one of 0 in its place",
        varies=True,
    ),
    Known(
        "forest-order",
        ("RandomForestClassifier",),
        "RandomForestClassifier without shuffle gives records to trees by their position among n. A record that is "
        "removed moves the others to other trees, so that all trees pay. (One that is replaced costs twice epsilon.)",
        "each datapoint is said to train exactly one tree, in order",
        "",
        """import numpy as np
from diffprivlib.models import RandomForestClassifier
X, y = np.zeros((20, 1)), np.arange(20) % 2
def agree(X, y):
    forest = RandomForestClassifier(20, epsilon=1.0, bounds=(0, 1), classes=[0, 1], max_depth=1).fit(X, y)
    return np.mean([tree.predict(X[:1])[0] == i % 2 for i, tree in enumerate(forest.estimators_)])
print(np.mean([agree(X, y) > 0.6 for _ in range(300)]), np.mean([agree(X[1:], y[1:]) > 0.6 for _ in range(300)]))""",
        lambda seen: seen[0] > 0.9 and seen[1] < 0.02,
        "how often trees agree with a pattern of labels, with all 20 records and without the first",
        varies=True,
    ),
    Known(
        "nan-tools",
        tuple(f"{name}, data with NaN" for name in ("nanmean", "nanvar", "nanstd", "nansum")),
        "nanmean, nanvar and nanstd divide by the number of values that are present and take a sensitivity for all of "
        "them; for nansum a missing value counts as 0, which may lie outside of the bounds. Data without a value come "
        "out as NaN.",
        "missing values are said to be ignored",
        "",
        """import numpy as np
from diffprivlib.tools import nanmean, nanvar
gone = np.full(998, np.nan)
print(nanmean([*gone, 0.0], epsilon=0.1, bounds=(0, 1)), nanmean([*gone, 1.0], epsilon=0.1, bounds=(0, 1)))
print(nanvar([*gone, 0, 0], epsilon=0.1, bounds=(0, 1)), nanvar([*gone, 0, 1], epsilon=0.1, bounds=(0, 1)))""",
        lambda seen: seen[0] < 0.4 < 0.6 < seen[1],
        "noisy means of one value, 0 and then 1, among 998 that are missing; then noisy variances of (0, 0) and (0, 1)",
        varies=True,
    ),
    Known(
        "bingham-sampler",
        ("Bingham, 4 dimensions",),
        "The Bingham mechanism (used by PCA) accepts a proposal with the wrong power of its density, so that its law "
        "is sharper than the Bingham law. In four dimensions a replaced record may cost more than epsilon.",
        "the mechanism is named after the law",
        "",
        """import numpy as np
from scipy.special import ive
from diffprivlib.mechanisms import Bingham
mechanism = Bingham(epsilon=8.0, random_state=np.random.RandomState(0))
squares = [mechanism.randomise(np.diag([1.0, 0.0]))[0] ** 2 for _ in range(10000)]
print(np.mean(squares), (1 + ive(1, 1.0) / ive(0, 1.0)) / 2)""",
        lambda seen: abs(seen[0] - seen[1]) > 0.1,
        "mean of the squared first coordinate, drawn, and of the Bingham law exp(2 v_1^2) on the circle (0.72)",
    ),
)
