"""What a transcript costs: exact curves, sampled releases, and the noise that a budget asks for."""
