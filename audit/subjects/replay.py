"""A witness again: the same data, values and batches on the algorithm as it is now."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dpassay.audit.inputs.foreign import foreign_code, is_code, relation_named, require_trusted
from dpassay.audit.live.program import LiveProgram
from dpassay.audit.lockstep.run import scripted
from dpassay.audit.plain import is_float
from dpassay.audit.plain_numpy.audited import OfOnePair, trial_pairs
from dpassay.audit.plain_numpy.mechanism import PlainMechanism
from dpassay.audit.plain_numpy.signature import is_plain
from dpassay.audit.search.ground import AllOf, Data, Ground, OnePair, data_of
from dpassay.audit.search.runner import Premises, quiet
from dpassay.audit.search.witness import Witness
from dpassay.audit.subjects.own import open_own, open_space
from dpassay.audit.subjects.programs import on_tape, with_program
from dpassay.reference import PrivacyClaim, Space, find
from dpassay.reference.accounting.calibrate import Uncalibrated
from dpassay.reference.errors import BadInput, require
from dpassay.reference.findings import Finding


@dataclass(frozen=True)
class Replayed:
    """What the run showed this time; ``again`` if the finding of the witness is among it."""

    findings: tuple[Finding, ...]
    again: bool
    raised: str = ""


def replay(witness: Witness, modules: Collection[str], where: str = "witness", program: str | None = None) -> Replayed:
    """Run the example of a witness.

    Args:
        modules: the user's modules that may be imported; a file must not choose what is run.
        program: the command of a program, for a witness of one: a file must not choose that either.
        where: what to call the witness in messages.

    Raises:
        BadInput: a module that is not allowed, an unknown algorithm, or data that do not fit its space.
    """
    claim = _claim(witness, where)
    ground = _ground(witness, modules, where, claim, program)
    data = witness.data
    with foreign_code(f"{where}: algorithm", str(witness.about["algorithm"])):
        if isinstance(ground, AllOf):
            if data.rows is None or data.there is None:
                raise BadInput(f"{where}: rows", None, "the space needs rows")
            data = data_of(ground.space, data.sizes, data.rows, data.there, data.target)
        else:
            data = Data(swapped=data.swapped)
        try:
            setting = ground.setting(data)
        except Uncalibrated as error:
            return _replayed(witness, [error.finding] if error.finding else [], "")
        with quiet():
            run = scripted(setting.mechanism, setting.pair, [witness.seed], witness.script)
    plain = setting.mechanism if isinstance(setting.mechanism, PlainMechanism) else None
    premises = Premises(claim, ground.relation) if plain is None else OfOnePair(claim, None, plain)
    return _replayed(witness, premises.findings(run, by_rows=data.rows is not None), run.raised)


def _replayed(witness: Witness, findings: Sequence[Finding], raised: str) -> Replayed:
    key = witness.finding.kind, witness.finding.label
    return Replayed(tuple(findings), any((one.kind, one.label) == key for one in findings), raised)


def agreed(program: str | None, named: object, where: str) -> str | None:
    """The command that the user gives, where the witness is of a program; the file only says that it is of one.

    Raises:
        BadInput: one of the two is missing.
    """
    why = "is a command, and a file must not choose what is run; if you trust it: --program COMMAND"
    require(named is None or program is not None, f"{where}: program", named, why)
    require(named is not None or program is None, "--program", program, "the witness is not of a program")
    return program


def _claim(witness: Witness, where: str) -> PrivacyClaim:
    about = witness.about
    for name in ("algorithm", "space", "relation"):
        require(isinstance(about.get(name), str), f"{where}: about.{name}", about.get(name), "must be a text")
    for name in ("epsilon", "delta"):
        good = is_float(about.get(name))
        require(good, f"{where}: about.{name}", about.get(name), "must be a number that a float can hold")
    relation = relation_named(str(about["relation"]), f"{where}: about.relation")
    assert relation is not None  # it is named
    return PrivacyClaim(float(about["epsilon"]), float(about["delta"]), relation=relation)


def _ground(witness: Witness, modules: Collection[str], where: str, claim: PrivacyClaim, program: str | None) -> Ground:
    agreed(program, witness.about.get("program"), where)
    algorithm, space = str(witness.about["algorithm"]), str(witness.about["space"])
    for name in (algorithm, space) if is_code(algorithm) or program is not None else ():
        require_trusted(name, modules, where)
    if is_code(algorithm):
        given = witness.about.get("with")
        run, found = open_own(algorithm, space or None, claim.relation, given=str(given).split() if given else ())
        if is_plain(run) and witness.data.rows is not None:  # as the audit reads it
            known = {"epsilon": claim.epsilon, "delta": claim.delta}
            plain = run if isinstance(run, PlainMechanism) else PlainMechanism(run, **known)
            run = plain.tried(trial_pairs(found, 0), 0, claim.delta)
        return AllOf(run, found)
    if program is not None and space:
        place = open_space(space, claim.relation)
        return AllOf(on_tape(LiveProgram(program, algorithm), place), place)
    cases = find(algorithm)
    require(len(cases) == 1, f"{where}: algorithm", algorithm, f"names {len(cases)} cases")
    case = cases[0]
    instance = case.build()
    if program is not None:
        instance = with_program(case, LiveProgram(program, case.id, case.reading))
    if witness.data.rows is None:
        return OnePair(instance.mechanism, instance.pair, claim.relation)
    if case.space is None:
        raise BadInput(f"{where}: rows", algorithm, "has no space to find rows in")
    room: Space = case.space()
    return AllOf(instance.mechanism if room.schedule is None else instance.run, room)
