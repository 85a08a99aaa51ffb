"""What audits the auditors: known laws, planted bugs, a zoo of broken mechanisms."""
