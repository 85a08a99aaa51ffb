"""Code that draws noise again until it fits: only the last number is seen."""


def in_range(rows, rng):
    """Laplace noise kept to the unit interval by rejection: epsilon 1.5 at most (with claim 3: right)."""
    mean = rows.clip(0, 1).mean()
    while True:
        noisy = mean + rng.laplace(scale=1 / len(rows))
        if 0 <= noisy <= 1:
            return noisy


def in_range_with_attempts(rows, rng):
    """It tells how often it drew, so every draw counts."""
    mean, attempts = rows.clip(0, 1).mean(), 1
    while not 0 <= (noisy := mean + rng.laplace(scale=1 / len(rows))) <= 1:
        attempts += 1
    return noisy, attempts
