"""Small data shared by the tests of this folder."""

import numpy as np
import pytest

from dpassay.reference.problems.models import ClassificationLoss, SoftmaxRegression, TwoLayerNetwork


@pytest.fixture(params=["softmax", "network"])
def small_loss(request):
    rng = np.random.default_rng(3)
    features, labels = rng.normal(size=(14, 4)), rng.integers(0, 3, size=14)
    model = SoftmaxRegression(4, 3) if request.param == "softmax" else TwoLayerNetwork(4, 5, 3)
    return ClassificationLoss(model, features, labels)
