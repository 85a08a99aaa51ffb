"""Mechanisms for the black box."""


def laplace(dataset, rng):
    return sum(dataset) + rng.laplace(scale=1.0)


def half_noise(dataset, rng):
    return sum(dataset) + rng.laplace(scale=0.5)
