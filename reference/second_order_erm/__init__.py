"""Differentially Private Optimization for Smooth Non-convex ERM.

Who wrote it, and the file of each algorithm: ``dpassay show second_order_erm``.
"""
