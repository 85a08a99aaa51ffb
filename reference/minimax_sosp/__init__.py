"""Paper minimax_sosp: DP-RGDA, private second-order points of minimax problems."""
