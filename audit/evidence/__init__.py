"""What an audit of one algorithm found."""
