"""What audits the auditors: mechanisms with known privacy, and with known bugs."""
