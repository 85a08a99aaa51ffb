"""The audit cases of minimax_sosp: accounts against claims, findings, and two full sandwiches."""

from math import sqrt

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.catalogue import find
from dpassay.reference.findings import Kind
from dpassay.reference.minimax_sosp import dp_rgda
from dpassay.reference.minimax_sosp.cases import CASES as MINIMAX_SOSP
from dpassay.reference.minimax_sosp.space import BOX
from dpassay.reference.problems.pulls import Pulls
from dpassay.reference.tape import LiveTape
from dpassay.reference.written import reason

CASES = {case.key: case for case in MINIMAX_SOSP}
SMALL = [key for key in CASES if ":experiment" not in key]


def test_clip_of_the_mean_exceeds_the_claimed_sensitivity_nine_times():
    """n = 9: the clipped mean moves by 2 C, the claim is 2 C / 9."""
    instance = CASES["minimax_sosp/dp_rgda:mean-clip-n9-d2-T3-K2-q3-b9@printed"].build()
    result = lockstep(instance.mechanism, instance.pair, [0])
    assert {finding.kind for finding in result.findings} == {Kind.SENSITIVITY_EXCEEDED}
    assert result.movements["step/v"].share == pytest.approx(9.0)


def test_baselines_of_tables_1_and_2_are_labelled_as_reconstructions():
    names = {"dp_spider", "sto_spider", "ada_dp_spider", "private_diff", "dp_sgda"}
    found = [case for case in MINIMAX_SOSP if case.reading == "baseline"]
    assert {case.id.split("/")[1] for case in found} == names
    assert all(any("reconstruction" in text for text in case.completions) for case in found)


@pytest.mark.parametrize("key", [key for key in SMALL if ("@repaired" in key or "rowclip" in key) and "minimax" in key])
def test_steep_neighbours_attain_every_sensitivity(key):
    """Every release of every run: the query moves by the whole of its claimed 2 C / S (full batches)."""
    instance = CASES[key].build()
    result = lockstep(instance.mechanism, instance.pair, [0])
    assert set(result.movements) == {"refresh/v", "refresh/u", "step/v", "step/u"}
    assert all(movement.share == pytest.approx(1.0, abs=1e-6) for movement in result.movements.values())


@pytest.mark.parametrize("key", [key for key in SMALL if ":algorithm3" in key])
def test_no_clip_acts_where_the_printed_sensitivities_are_to_hold(key):
    """The printed claim is refuted on rows that stay inside the clips: no query moves further than is claimed."""
    instance = CASES[key].build()
    for seed in range(3):
        result = lockstep(instance.mechanism, instance.pair, [seed])
        assert not result.findings
    shares = {label: movement.share for label, movement in result.movements.items()}
    assert min(shares["refresh/v"], shares["step/v"]) > 0.85


def test_rows_of_minimax_sosp_cite_the_theorem_of_their_noise_and_list_only_what_was_mended():
    """Appendix B.2's noise is Theorem 2's; Appendix D already clips each record and counts every access."""
    for case in (case for case in MINIMAX_SOSP if case.id == "minimax_sosp/dp_rgda"):
        appendix = case.build().schedule.smoothness is not None
        assert (case.claim.cite.place == "Theorem 2") == appendix
        assert any("noise of Appendix B.2" in text for text in case.completions) == appendix
        assert bool(case.repairs) == (case.reading == "repaired")
        if case.reading == "repaired":
            assert any("clip every per-sample" in text for text in case.repairs) == ("experiment" not in case.variant)


@pytest.mark.parametrize("label", ["step/v", "step/u"])
def test_the_share_of_the_differences_is_told(label):
    cases = [one for one in find("minimax_sosp/dp_rgda") if one.variant.startswith("appendixB2")]
    assert len(cases) == 2 and all(f"{BOX / sqrt(2):.3f}" in reason(label, one.attainable) for one in cases)


def test_x_and_y_never_move_at_once(monkeypatch):
    """Every difference of a run, and of two records at the corners of the box: 0.283 of the declared at most."""
    moves, declared = [], dp_rgda.Schedule.step_sensitivity

    def noted(problem, s, tape, now, before):
        apart = [float(np.linalg.norm(one - other)) for one, other in zip(now, before, strict=True)]
        moves.append(apart)
        both = np.arange(2)
        for gradients in (problem.gradients_x, problem.gradients_y):
            change = gradients(*now, both) - gradients(*before, both)
            claim = declared(s, float(np.hypot(*apart))) * s.step_batch  # of one record
            assert np.linalg.norm(change[0] - change[1]) <= BOX / sqrt(2) * claim + 1e-15
        return difference(problem, s, tape, now, before)

    difference = dp_rgda._difference
    monkeypatch.setattr(dp_rgda, "_difference", noted)
    (case, _) = [one for one in find("minimax_sosp/dp_rgda") if one.variant.startswith("appendixB2")]
    space = case.space()
    sizes = {name: values[-1] for name, values in space.sizes.items()}
    rows = np.tile([BOX, -BOX, BOX, BOX], (sizes["n"], 1))
    rows[1] *= -1
    assert isinstance(space.problem(rows, sizes), Pulls)
    dp_rgda.run(space.problem(rows, sizes), space.schedule(sizes), LiveTape(0))
    assert {(one > 0, other > 0) for one, other in moves} <= {(True, False), (False, True), (False, False)}
    assert any(one > 0 for one, _ in moves) and any(other > 0 for _, other in moves)
