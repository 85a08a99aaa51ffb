"""The search for neighbours on which an algorithm leaks the most."""
