"""Test vectors and a live protocol for other implementations."""
