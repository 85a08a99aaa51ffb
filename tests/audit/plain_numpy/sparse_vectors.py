"""The six sparse vectors of Lyu, Su and Li 2017, Figure 1, as people write them, and counts that a record only raises.

The first two keep to epsilon 1, the others do not, whatever epsilon is claimed of them (the fourth: to 3.25).
"""


def counts(rows):
    return (rows > 0).sum(axis=0)


def first(rows, rng):
    threshold, found = 3 + rng.laplace(scale=2), []
    for count in counts(rows):
        found.append(bool(count + rng.laplace(scale=4) >= threshold))
        if found[-1]:
            break
    return found


def second(rows, rng, most=2):
    threshold, found = 3 + rng.laplace(scale=2 * most), []
    for count in counts(rows):
        found.append(bool(count + rng.laplace(scale=4 * most) >= threshold))
        if found[-1]:
            threshold = 3 + rng.laplace(scale=2 * most)
        if sum(found) >= most:
            break
    return found


def third(rows, rng):
    threshold, found = 3 + rng.laplace(scale=2), []
    for count in counts(rows):
        noisy = count + rng.laplace(scale=2)
        found.append(noisy if noisy >= threshold else None)  # the noise of the comparison, told
        if noisy >= threshold:
            break
    return found


def fourth(rows, rng, most=2):
    threshold, found = 3 + rng.laplace(scale=4), []
    for count in counts(rows):
        found.append(bool(count + rng.laplace(scale=4 / 3) >= threshold))  # noise for one answer above
        if sum(found) >= most:
            break
    return found


def fifth(rows, rng):
    threshold = 3 + rng.laplace(scale=2)
    return [bool(count >= threshold) for count in counts(rows)]


def sixth(rows, rng):
    threshold = 3 + rng.laplace(scale=2)
    return [bool(count + rng.laplace(scale=2) >= threshold) for count in counts(rows)]


def most_common(rows, rng):
    """Dwork and Roth 2014, Claim 3.9: epsilon 1 where a neighbour lacks a record, 2 where one is replaced."""
    votes = counts(rows)
    return int((votes + rng.laplace(scale=1.0, size=votes.shape)).argmax())


def first_above(rows, rng):
    """Half of the noise of the sparse vector will do where a record only raises the counts."""
    threshold = 3 + rng.laplace(scale=2)
    for number, count in enumerate(counts(rows)):
        if count + rng.laplace(scale=2) >= threshold:
            return number
    return -1
