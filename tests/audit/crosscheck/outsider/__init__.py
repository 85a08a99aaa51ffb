"""An outsider's implementations, written from the papers' pseudocode and the vectors' formulas."""
