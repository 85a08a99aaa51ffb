"""What is found in scikit-learn 1.9.1 where its estimators stand for the exact solution."""

from __future__ import annotations

from .known import Known

KNOWN = (
    Known(
        id="default-tolerance",
        models=("LogisticRegression, 100,000 records",),
        says=(
            "With its defaults the solver lbfgs stops as soon as no coordinate of the mean gradient exceeds tol = "
            "1e-4, so the solution may be 1e-4 / mu away. Output perturbation allows L / (mu n), which is less from "
            "n = 10,000 L on: one record may then decide whether a step is made at all, and the point moves by more "
            "than the noise covers. A smaller tol, or gradient steps until the distance is certified, mend it."
        ),
        documented="tol is called the tolerance for stopping criteria; of what, in which unit, is not said",
        thread="https://github.com/scikit-learn/scikit-learn/issues/18074",
        program="""\
import numpy as np
from sklearn.linear_model import LogisticRegression
n, mu = 100_000, 0.1
def coefficient(positive):
    y = np.where(np.arange(n) < positive, 1, -1)
    return LogisticRegression(C=1 / (n * mu), fit_intercept=False).fit(np.full((n, 1), 0.099), y).coef_.item()
print(coefficient(50_101), coefficient(50_102), 4 / (mu * n))
""",
        shows=lambda seen: abs(seen[1] - seen[0]) > 2 * seen[2],
        reads="the coefficient for 50,101 positive labels of 100,000, for one more, and 4L/(mu n) with L = 1",
    ),
    Known(
        id="intercept",
        models=("LogisticRegression, intercept",),
        says=(
            "The regulariser leaves the intercept out (all solvers but liblinear), so the objective is not strongly "
            "convex, Lemma 3.3 says nothing, and where one class is rare a record moves the intercept by more than "
            "4L/(mu n). liblinear regularises it: kept. So does a feature that is 1 without an intercept."
        ),
        documented="the regularised intercept is documented for liblinear; for the others the formula leaves it out",
        thread="https://github.com/scikit-learn/scikit-learn/issues/10626",
        program="""\
import numpy as np
from sklearn.linear_model import LogisticRegression
def intercept(negative):
    y = np.where(np.arange(1000) < negative, -1, 1)
    return LogisticRegression(C=1 / (1000 * 0.1)).fit(np.zeros((1000, 1)), y).intercept_.item()
print(intercept(1), intercept(2), 4 * 2**0.5 / (0.1 * 1000))
""",
        shows=lambda seen: abs(seen[1] - seen[0]) > 2 * seen[2],
        reads="the intercept for one negative label of 1,000, for two, and 4L/(mu n) with L = sqrt(2), mu = 0.1",
    ),
    Known(
        id="balanced-weights",
        models=("LogisticRegression, balanced",),
        says=(
            "class_weight balanced divides by the number of records of each class. One record may then count for half "
            "of all, and one label that is replaced changes the weights of all others."
        ),
        documented="the formula of the weights is documented",
        thread="",
        program="""\
import numpy as np
from sklearn.linear_model import LogisticRegression
def coefficient(last, label):
    X, y = np.zeros((1000, 1)), np.ones(1000)
    X[0], y[0], X[-1], y[-1] = -1, -1, last, label
    model = LogisticRegression(C=1 / (1000 * 0.1), fit_intercept=False, class_weight="balanced")
    return model.fit(X, y).coef_.item()
print(coefficient(0, 1), coefficient(1, -1), 4 / (0.1 * 1000))
""",
        shows=lambda seen: abs(seen[1] - seen[0]) > 2 * seen[2],
        reads="the coefficient with the last record (0, +1), with (1, -1), and 4L/(mu n) with L = 1, mu = 0.1",
    ),
    Known(
        id="stochastic-rate",
        models=("SGDClassifier, 1,000 records, constant rate, in order",),
        says=(
            "SGDClassifier with a constant rate ends wherever the last records took it: without shuffle the last one "
            "alone moves the result by up to 2 eta0 L, however many there are. With the default rate, about "
            "1 / (mu t), nothing was found; its point need not be near the solution, so Lemma 3.3 does not say why."
        ),
        documented="shuffle and learning_rate are documented as options of the optimisation",
        thread="",
        program="""\
import numpy as np
from sklearn.linear_model import SGDClassifier
def coefficient(last):
    X, y = np.zeros((1000, 1)), np.arange(1000) % 2
    X[-1] = last
    how = {"loss": "log_loss", "learning_rate": "constant", "eta0": 0.1, "shuffle": False}
    return SGDClassifier(alpha=0.1, fit_intercept=False, **how).fit(X, y).coef_.item()
print(coefficient(1), coefficient(-1), 4 / (0.1 * 1000))
""",
        shows=lambda seen: abs(seen[1] - seen[0]) > 2 * seen[2],
        reads="the coefficient with the last record 1, with -1, and 4L/(mu n) with L = 1, mu = 0.1",
    ),
    Known(
        id="refused-data",
        models=("LogisticRegression, data of any classes", "LogisticRegression, sag, data of any features"),
        says=(
            "LogisticRegression refuses data of one class, its solver sag divides by zero where all features are zero "
            "or tiny. Whether an error is raised shows the last record that is otherwise. A record of each class "
            "without features changes no solution and prevents the first; where the second happens, zero is the "
            "solution."
        ),
        documented="that classes must be at least two is said by the error; sag's case is named in its error as well",
        thread="",
        program="""\
from sklearn.linear_model import LogisticRegression
def refused(X, y, solver):
    try:
        LogisticRegression(solver=solver, fit_intercept=False).fit(X, y)
    except (ValueError, ZeroDivisionError):
        return True
    return False
for y in ([0, 0, 0], [0, 0, 1]):
    print(refused([[1], [1], [1]], y, "lbfgs"))
for last in (0, 1):
    print(refused([[0], [0], [last]], [0, 1, 1], "sag"))
""",
        shows=lambda seen: seen == [1, 0, 1, 0],
        reads="is it refused: three records of one class, one of another class among them; features 0, one of them 1",
    ),
)
