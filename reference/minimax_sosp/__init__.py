"""Difei Xu, Youming Tao, Meng Ding, Chenglin Fan, Di Wang: Finding Differentially Private Second Order Stationary
Points in Stochastic Minimax Optimization.

Text: undated text in ICML style.

======================  ==========================  =======================================
in the paper            catalogue id                file
======================  ==========================  =======================================
Algorithms 2 and 3      minimax_sosp/dp_rgda        reference/minimax_sosp/dp_rgda.py
arora2023, Algorithm 1  minimax_sosp/dp_spider      reference/baselines/dp_spider.py
Tables 1 and 2          minimax_sosp/sto_spider     reference/minimax_sosp/sto_spider.py
Tables 1 and 2          minimax_sosp/ada_dp_spider  reference/minimax_sosp/ada_dp_spider.py
Tables 1 and 2          minimax_sosp/private_diff   reference/baselines/private_diff.py
yang2022, Algorithm 1   minimax_sosp/dp_sgda        reference/baselines/dp_sgda.py
Algorithm 1             a part                      reference/blocks/clipping.py
======================  ==========================  =======================================
"""
