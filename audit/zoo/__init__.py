"""What audits the auditors: mechanisms with known privacy, with known bugs, and mutants of the catalogue."""
