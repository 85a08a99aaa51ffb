"""What commands share: options, progress, and one ending."""
