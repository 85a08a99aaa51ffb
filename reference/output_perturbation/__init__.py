"""Liang Zhang, Kiran Koshy Thekumparampil, Sewoong Oh, Niao He: Bring Your Own Algorithm for Optimal Differentially
Private Stochastic Minimax Optimization.

Text: text of June 2, 2022. NeurIPS 35, pp. 35174-35187 (as cited in minimax_sosp).

==================  ====================================  =================================================
in the paper        catalogue id                          file
==================  ====================================  =================================================
Algorithm 1         output_perturbation/algorithm1        reference/output_perturbation/algorithm1.py
Algorithm 2         output_perturbation/algorithm2        reference/output_perturbation/algorithm2.py
Algorithm 3         output_perturbation/algorithm3        reference/output_perturbation/algorithm3.py
Algorithm 4         output_perturbation/algorithm4        reference/output_perturbation/algorithm4.py
Algorithm 5         output_perturbation/algorithm5        reference/output_perturbation/algorithm5.py
Algorithms 4 and 5  output_perturbation/algorithms4and5   reference/output_perturbation/algorithms4and5.py
Section 4.3         output_perturbation/strongly_concave  reference/output_perturbation/strongly_concave.py
==================  ====================================  =================================================
"""
