"""Bugs in output perturbation."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

_ONE, _TWO, _THREE, _FOUR, _FIVE = (f"output_perturbation/algorithm{number}.py" for number in range(1, 6))
_SOLVER, _PHASES, _SADDLE = (f"output_perturbation/{name}.py" for name in ("base_solver", "phases", "phased_saddle"))
_PHASED, _PROXIMAL = "output_perturbation/phased_erm.py", "output_perturbation/inexact_proximal.py"

PATCHES = (
    Patch(
        "algorithm1: sensitivity of one solution",
        _ONE,
        "sensitivity=(2 + 2 * residual) * unit",
        "sensitivity=(1 + residual) * unit",
        "half of the stability bound: the neighbour's error is forgotten",
        thread="opendp/smartnoise-core#243",
    ),
    Patch(
        "algorithm1: the solver is trusted",
        _ONE,
        "return replace(exact, solver=solver or GradientDescent(accelerated=True), certified=True)",
        "return replace(exact, solver=solver or GradientDescent(accelerated=True), certified=False, target=1e3)",
        "nobody checks that the solver came near the solution",
    ),
    Patch(
        "algorithm1: returns the solution",
        _ONE,
        "return problem.project(released) if schedule.project else released",
        "return problem.project(0.9 * released + 0.1 * solution)",
        "the returned point is mixed with the solution before the noise",
    ),
    Patch(
        "algorithm1: noise of the data's own constant",
        _ONE,
        '    std = schedule.noise.std("output", sensitivity)',
        '    std = schedule.noise.std("output", sensitivity) * min(1.0, float(np.linalg.norm(solution)) + 0.5)',
        "the noise scale follows the norm of the private solution",
    ),
    Patch(
        "algorithm1: budget spent twice",
        _ONE,
        "    # STEP: none, one shot\n",
        '    released = (released + tape.gaussian("output", solution, std=std, sensitivity=sensitivity)) / 2\n'
        "    # STEP: none, one shot\n",
        "two releases share one budget",
        only_noise=True,
        thread="IBM/differential-privacy-library#104",
    ),
    Patch(
        "algorithm2: the last phase has no noise",
        _TWO,
        '        std = schedule.noise.std(f"x/{k}", sensitivity)  # sigma_k',
        '        std = schedule.noise.std(f"x/{k}", sensitivity) * (k < len(batches))',
        "the last phase is released as it is",
        thread="NVIDIA/NVFlare#343",
    ),
    Patch(
        "algorithm2: centred at the true solution",
        _TWO,
        "centre = problem.domain_x.project(released) if schedule.project else released",
        "centre = x_k if k < len(batches) else problem.domain_x.project(released)",
        "the next phase starts at the solution before the noise",
    ),
    Patch(
        "algorithm2: all phases on the first block",
        _TWO,
        "problem.phase(batch.indices, Regulariser",
        "problem.phase(batches[0].indices, Regulariser",
        "every phase uses the first block of records",
    ),
    Patch(
        "algorithm2: phases overlap by a record",
        _TWO,
        "problem.phase(batch.indices, Regulariser",
        "problem.phase(np.append(batch.indices[1:], batches[0].indices[0]), Regulariser",
        "one record of the first block is in every phase",
    ),
    Patch(
        "algorithm2: noise of the next phase",
        _TWO,
        '        std = schedule.noise.std(f"x/{k}", sensitivity)  # sigma_k',
        '        std = schedule.noise.std(f"x/{k}", schedule.sensitivities[min(k, len(batches) - 1)])',
        "each phase has the noise of the one after it, which is smaller",
        only_noise=True,
    ),
    Patch(
        "algorithm3: y has the noise of x",
        _THREE,
        "scale = np.sqrt(problem.weights)",
        "scale = np.sqrt(problem.weights) * (1 + (np.arange(problem.d + problem.d_y) >= problem.d))",
        "the second block is scaled twice as large as its noise",
    ),
    Patch(
        "algorithm3: the dual is not perturbed",
        _THREE,
        "    # STEP: none, one shot\n",
        "    released = np.concatenate([released[: problem.d], solution[problem.d :]])\n    # STEP: none, one shot\n",
        "the dual variable is returned as the solver found it",
    ),
    Patch(
        "algorithm4: the secret block is told",
        _FOUR,
        "    return centre  # Output",
        "    return np.concatenate([centre, solution[schedule.d :]])",
        "the block that stays secret is returned beside the released one",
    ),
    Patch(
        "algorithm5: the x block starts the next phase",
        _FIVE,
        "        # STEP\n",
        "        # STEP\n        released = released + 0.01 * float(solution[0])\n",
        "the released block is moved by the secret one",
    ),
    Patch(
        "base_solver: warm start at the data's mean",
        _SOLVER,
        "    if not certified:\n        return solver(problem, target, rng).point",
        "    if not certified:\n        return solver(problem, target, rng).point + 0.0",
        "adding zero changes nothing",
        must=False,
    ),
    Patch(
        "phases: a record more than n_bar",
        _PHASES,
        'tape.fresh(f"phase/{k}", n, plan.length, order="index")',
        'tape.fresh(f"phase/{k}", n, max(1, plan.length - 1), order="index")',
        "smaller phases than the sensitivity is made for",
    ),
    Patch(
        "phased_saddle: n in place of n_bar",
        _SADDLE,
        "stable = sharp_stability(problem.loss.lipschitz, plan.length, own, other)",
        "stable = sharp_stability(problem.loss.lipschitz, problem.n, own, other)",
        "the stability of a solution on all records is used for one on a phase",
        thread="opendp/smartnoise-core#356",
    ),
    Patch(
        "phased_saddle: exact integer division",
        _SADDLE,
        "sensitivities.append(float(stable + 2 * target / np.sqrt(own)))",
        "sensitivities.append(float(int(stable + 2 * target / np.sqrt(own))) or 1e-3)",
        "the sensitivity is rounded down to a whole number",
        thread="opendp/opendp#314",
    ),
)
