"""What an audit of one algorithm found, and the exact tests, e-values and levels that bounds rest on."""
