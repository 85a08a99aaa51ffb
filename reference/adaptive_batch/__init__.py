"""Adaptive Batch Size for Privately Finding Second-Order Stationary Points.

Who wrote it, and the file of each algorithm: ``dpassay show adaptive_batch``.
"""
