"""Peter Kairouz, Brendan McMahan, Shuang Song, Om Thakkar, Abhradeep Thakurta, Zheng Xu: Practical and Private (Deep)
Learning without Sampling or Shuffling.

Text: 2021; Algorithm 1 and the accounting of Appendix D alone. ICML 2021, PMLR 139, pp. 5213-5225.
Link: arXiv:2103.00039.

============  ===============  ============================
in the paper  catalogue id     file
============  ===============  ============================
Algorithm 1   dp_ftrl/dp_ftrl  reference/dp_ftrl/dp_ftrl.py
============  ===============  ============================
"""
