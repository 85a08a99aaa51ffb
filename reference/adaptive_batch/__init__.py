"""Daogao Liu, Kunal Talwar: Adaptive Batch Size for Privately Finding Second-Order Stationary Points.

Text: undated text; cites work of 2025, so it is later than the first version (2024).
Link: arXiv:2410.07502 (as cited in minimax_sosp).

=====================  ================================  =============================================
in the paper           catalogue id                      file
=====================  ================================  =============================================
Algorithms 1, 3 and 4  adaptive_batch/stochastic_spider  reference/adaptive_batch/stochastic_spider.py
Algorithm 1            a part                            reference/adaptive_batch/tree.py
Algorithm 1            a part                            reference/blocks/tree.py
Algorithm 2            a part                            reference/adaptive_batch/escape.py
Algorithm 4            a part                            reference/adaptive_batch/oracles.py
=====================  ================================  =============================================
"""
