"""What a released value follows, given the data: each with its query, noise scale, distance and density."""
