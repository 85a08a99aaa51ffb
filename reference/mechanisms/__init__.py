"""The laws that private releases follow: Gaussian, Laplace, above-threshold, tree."""
