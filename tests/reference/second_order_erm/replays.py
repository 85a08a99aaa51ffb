"""What tests of several methods do: run one with the longest course, and replay one on a neighbour."""

from dpassay.reference.replay import ReplayDiverged, ReplayTape
from dpassay.reference.second_order_erm.instances import LONGEST
from dpassay.reference.tape import ScriptedTape, record


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
