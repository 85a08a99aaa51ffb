"""Differentially Private Non-convex Distributionally Robust Optimization.

Who wrote it, and the file of each algorithm: ``dpassay show dro``.
"""
