"""The experiments of the five papers run again: one module a paper, its tables and plots beside it."""
