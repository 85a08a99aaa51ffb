"""What a released value follows, given the data: one law a file, with its query, noise scale, distance and density."""
