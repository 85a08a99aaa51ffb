"""Where audits run and how what they found survives: workers, reports, stores, checkpoints, interruptions."""
