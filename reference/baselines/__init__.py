"""Known-good baselines that everybody can compare with."""
