"""Non-private base solvers that output perturbation plugs in."""
