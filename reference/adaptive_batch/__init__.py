"""Paper adaptive_batch: adaptive batch sizes and the tree mechanism for private second-order points."""
