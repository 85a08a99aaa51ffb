"""What the audit stands on, checked against its own description: laws, drawers, streams, tree and accountant."""
