"""Finding Differentially Private Second Order Stationary Points in Stochastic Minimax Optimization.

Who wrote it, and the file of each algorithm: ``dpassay show minimax_sosp``.
"""
