"""Several worlds on one tape: what differs between neighbours, and the exact privacy loss of a run."""
