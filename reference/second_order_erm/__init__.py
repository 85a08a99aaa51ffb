"""Anonymous authors: Differentially Private Optimization for Smooth Non-convex ERM.

Text: anonymous text under double-blind review, undated.
Link: adaptive_batch cites a paper of this title by Changyu Gao and Stephen J. Wright: arXiv:2302.04972.

==================  ===========================  =========================================
in the paper        catalogue id                 file
==================  ===========================  =========================================
Algorithm 1         second_order_erm/opt         reference/second_order_erm/opt.py
Algorithms 2 and 3  second_order_erm/opt_ls      reference/second_order_erm/opt_ls.py
Section 3.3         second_order_erm/opt_b       reference/second_order_erm/opt_b.py
Section 3.4         second_order_erm/two_opt     reference/second_order_erm/two_opt.py
Section 3.4         second_order_erm/two_opt_ls  reference/second_order_erm/two_opt_ls.py
Section 3.4         second_order_erm/two_opt_b   reference/second_order_erm/two_opt_b.py
wang2021, DP-TR     second_order_erm/dp_tr       reference/second_order_erm/dp_tr.py
wang2019, DP-GD     second_order_erm/dp_gd       reference/second_order_erm/dp_gd.py
Section 4           second_order_erm/tr_b        reference/second_order_erm/tr_b.py
Algorithm 2         a part                       reference/second_order_erm/line_search.py
==================  ===========================  =========================================
"""
