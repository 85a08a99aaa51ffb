"""What leaks: empirical lower bounds on the realised privacy loss."""
