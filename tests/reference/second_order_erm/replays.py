"""What tests of several methods do: run one with the longest course, replay one on a neighbour, add up releases."""

from dpassay.reference.accounting.cost import Account, Part
from dpassay.reference.replay import ReplayDiverged, ReplayTape
from dpassay.reference.second_order_erm.instances import LONGEST
from dpassay.reference.tape import ScriptedTape, record


def sampled_epsilon(sigma, releases, rate, delta):
    """Epsilon of sampled Gaussian releases."""
    return Account(((Part("sampled", 1 / sigma, rate), releases),)).epsilon(delta)


def transcript_of(module, problem, schedule):
    tape = ScriptedTape(LONGEST, 3)
    tape.transcript.output = module.run(problem, schedule, tape)
    return tape.transcript


def findings(module, schedule, one, other, seed=4):
    replay = ReplayTape(record(lambda tape: module.run(one, schedule, tape), seed))
    try:
        return replay.close(module.run(other, schedule, replay))
    except ReplayDiverged:
        return replay.findings
