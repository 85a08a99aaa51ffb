"""Experiments of the papers run again: one module a paper, its tables and plots beside it."""
