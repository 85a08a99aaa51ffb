"""Practical and Private (Deep) Learning without Sampling or Shuffling.

Who wrote it, and the file of each algorithm: ``dpassay show dp_ftrl``.
"""
