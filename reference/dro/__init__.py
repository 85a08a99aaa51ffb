"""Paper dro: private distributionally robust optimisation by Double- and Recursive-SPIDER."""
