"""Losses with per-sample gradients and Hessians, their constants, real data, worst-case neighbours."""
