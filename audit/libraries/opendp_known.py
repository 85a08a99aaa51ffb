"""What is found in OpenDP 0.16.0, and how anyone can see it."""

from __future__ import annotations

from .known import Known

KNOWN = (
    Known(
        "threshold-at-equality",
        ("make_laplace_threshold, int", "make_gaussian_threshold, int"),
        "make_laplace_threshold and make_gaussian_threshold on whole numbers release a key whose noisy count equals "
        "the threshold, and count only what lies above it in delta (for the Gaussian, that of the continuous law).",
        "the docstrings describe both parts, each by itself",
        "https://github.com/opendp/opendp/issues/2922",
        """import opendp.prelude as dp
dp.enable_features("contrib")
keys = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
release = dp.m.make_laplace_threshold(keys, dp.l01inf_distance(dp.absolute_distance(T=int)), scale=1.0, threshold=4)
print(release.map((1, 1, 1))[1], sum(bool(release({"only one": 1})) for _ in range(20000)) / 20000)""",
        lambda seen: seen[1] > 2 * seen[0],
        "the claimed delta, and how often a key that one record has comes out",
        varies=True,
    ),
    Known(
        "eigenvector-sampler",
        ("make_private_eigenvector, 3 columns", "make_private_eigenvector, 4 columns"),
        "make_private_eigenvector accepts a proposal with the wrong power of its density (it divides by "
        "(u' Omega u)^(d/2), where a Bingham law needs the product). What comes out is sharper than the law that the "
        "privacy map is for, and costs more than the map from three columns on.",
        "a private module, on which PCA in opendp.extras.sklearn.decomposition rests; it needs the feature "
        "idealized-numerics, and says nothing of this",
        "",
        """import numpy as np, opendp.prelude as dp
from scipy.special import ive
from opendp.extras.numpy import _sscp_domain
from opendp.extras.sklearn._make_eigenvector import make_private_eigenvector
dp.enable_features("contrib", "idealized-numerics")
release = make_private_eigenvector(_sscp_domain(norm=1.0, p=2, num_features=2), dp.symmetric_distance(), 8.0)
squares = [release(np.diag([1.0, 0.0]))[0] ** 2 for _ in range(1500)]
print(np.mean(squares), (1 + ive(1, 1.0) / ive(0, 1.0)) / 2)""",
        lambda seen: abs(seen[0] - seen[1]) > 0.1,
        "mean of the squared first coordinate, drawn, and of the Bingham law exp(2 v_1^2) on the circle (0.72)",
        varies=True,
    ),
)
