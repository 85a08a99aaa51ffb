"""Difei Xu, Meng Ding, Zebin Ma, Huanyi Xie, Youming Tao, Aicha Slaitane, Di Wang: Differentially Private Non-convex
Distributionally Robust Optimization.

Text: undated text.

====================  ====================  =================================
in the paper          catalogue id          file
====================  ====================  =================================
Algorithm 2           dro/double_spider     reference/dro/double_spider.py
Algorithm 3           dro/recursive_spider  reference/dro/recursive_spider.py
Algorithm 3, line 16  dro/single_sample     reference/dro/single_sample.py
Section 3             dro/composite_sgd     reference/dro/composite_sgd.py
Section 3             dro/composite_spider  reference/dro/composite_spider.py
Section 5.1           dro/sgda              reference/dro/sgda.py
Section 5.1           dro/private_diff      reference/dro/private_diff.py
Algorithm 1           a part                reference/blocks/clipping.py
====================  ====================  =================================
"""
