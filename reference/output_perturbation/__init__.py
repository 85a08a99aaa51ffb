"""Bring Your Own Algorithm for Optimal Differentially Private Stochastic Minimax Optimization.

Who wrote it, and the file of each algorithm: ``dpassay show output_perturbation``.
"""
