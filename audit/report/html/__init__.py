"""The report as one HTML file: no network, no fonts or scripts from elsewhere, everything escaped."""
