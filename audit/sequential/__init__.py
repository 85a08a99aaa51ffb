"""Audits that stop early, go on from a checkpoint, and join what several machines found."""
