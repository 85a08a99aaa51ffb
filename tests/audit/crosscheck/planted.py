"""Bugs of the twins in ``foreign/``, each with the kind of difference that it is."""

from __future__ import annotations

PLANTED: tuple[tuple[str, str, str], ...] = (
    ("baselines/dp_sgd", "sign", "sign"),
    ("baselines/dp_sgd", "sum for mean", "factor"),
    ("baselines/dp_sgd", "clipped after averaging", "clip order"),
    ("baselines/dp_sgd", "infinity norm", "clip norm"),
    ("baselines/dp_sgd", "1-norm", "clip norm"),
    ("baselines/dp_sgd", "no clipping", "clipping is missing"),
    ("baselines/dp_sgd", "twice the bound", "clip bound"),
    ("baselines/dp_sgd", "variance", "noise scale"),
    ("baselines/dp_sgd", "noise of the libraries", "noise scale"),
    ("baselines/dp_sgd", "no noise", "un-noised"),
    ("baselines/dp_sgd", "goes on with the query", "un-noised"),
    ("baselines/dp_sgd", "half the batch", "wrong batch"),
    ("baselines/dp_sgd", "batch not said", "wrong batch"),
    ("baselines/dp_sgd", "neighbour's rows", "wrong batch"),
    ("baselines/dp_sgd", "sensitivity of adding", "sensitivity"),
    ("baselines/dp_sgd", "Laplace noise", "law"),
    ("baselines/dp_sgd", "a step more", "index shift"),
    ("baselines/dp_sgd", "off by a millionth of the noise", "precision"),
    ("baselines/dp_sgd", "ascent", "sign"),
    ("dp_ftrl/dp_ftrl", "node begins late", "index shift"),
    ("dp_ftrl/dp_ftrl", "last node alone", "missing term"),
    ("dp_ftrl/dp_ftrl", "sign of the leader", "sign"),
    ("dp_ftrl/dp_ftrl", "no clipping", "clipping is missing"),
    ("output_perturbation/algorithm2", "next phase's weight", "index shift"),
    ("output_perturbation/algorithm2", "sign of the loss", "sign"),
    ("output_perturbation/algorithm2", "centre forgotten", "missing term"),
    ("output_perturbation/algorithm2", "root of the noise", "noise scale"),
    ("dro/double_spider", "refresh a step late", "index shift"),
    ("dro/double_spider", "old eta", "index shift"),
    ("dro/double_spider", "differences not added up", "missing term"),
    ("dro/double_spider", "half the threshold", "clip bound"),
    ("dro/double_spider", "clipped after averaging", "clip order"),
    ("dro/double_spider", "loss not halved", "factor"),
    ("dro/double_spider", "the one is missing", "missing term"),
)
MISNAMED = {
    ("dp_ftrl/dp_ftrl", "node begins late"),  # unknown: the reference has no empty node, so no change does the same
}
FIRST_TRIAL = 26  # named before anything was changed
