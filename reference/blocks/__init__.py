"""What many algorithms share line by line: batches, clipping, the tree of noisy sums."""
