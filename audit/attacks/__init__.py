"""Membership inference and canaries on trained models."""
