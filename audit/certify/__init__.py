"""Certificates: upper bounds for every pair of neighbours, from the code itself (``docs/certify.md``)."""
