"""Bounds from attack scores: thresholds, trade-off curves, one run, sequential."""
