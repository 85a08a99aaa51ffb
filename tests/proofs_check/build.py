"""Short constructors of claims for the tests of the checkers."""

from dpassay.proofs_check.derivation.other_checks import claim_of


def _of(kind, **table):
    return claim_of({"kind": kind, **{name: value for name, value in table.items() if value is not None}})


def identity(claim, positive="", domain=None, **more):
    return _of("identity", claim=claim, positive=positive, domain=domain, **more)


def inequality(claim, positive="", domain=None, **more):
    return _of("inequality", claim=claim, positive=positive, domain=domain, **more)


def rates(claim, scale, positive, *, conditions=(), tilde=True):
    return _of("rates", claim=claim, scale=scale, positive=positive, conditions=conditions, tilde=tilde)


def units(claim, **names):
    return _of("units", claim=claim, units=names, free="")


def table(test, **arguments):
    return _of("tables", test=test, **arguments)


def same(places, positive=""):
    return _of("same", places=places, positive=positive)


def montecarlo(below, probability, instances, trials):
    return _of("montecarlo", below=below, probability=probability, instances=instances, trials=trials)


def privacy(std, sensitivity, epsilon, delta, positive="", domain=None, **more):
    return _of("privacy", std=std, sensitivity=sensitivity, epsilon=epsilon, delta=delta, positive=positive,
               domain=domain, **more)  # fmt: skip
