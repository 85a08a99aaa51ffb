"""Anonymous authors: Differentially Private Optimization for Smooth Non-convex ERM.

Text: anonymous text under double-blind review, undated.
Link: adaptive_batch cites a paper of this title by Changyu Gao and Stephen J. Wright: arXiv:2302.04972.

==================  ========================  ==============================================
in the paper        catalogue id              file
==================  ========================  ==============================================
Algorithm 1         second_order_erm/opt      reference/second_order_erm/short_step.py
Algorithms 2 and 3  second_order_erm/opt_ls   reference/second_order_erm/opt_ls.py
Section 3.3         second_order_erm/opt_b    reference/second_order_erm/opt_b.py
Section 3.4         second_order_erm/2opt     reference/second_order_erm/two_phase.py
Section 3.4         second_order_erm/2opt_ls  reference/second_order_erm/two_phase.py
Section 3.4         second_order_erm/2opt_b   reference/second_order_erm/two_phase.py
wang2021, DP-TR     second_order_erm/dp_tr    reference/second_order_erm/trust_region.py
wang2019, DP-GD     second_order_erm/dp_gd    reference/second_order_erm/gradient_descent.py
Section 4           second_order_erm/tr_b     reference/second_order_erm/trust_region.py
==================  ========================  ==============================================
"""
