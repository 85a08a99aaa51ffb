"""Paper output_perturbation: bring your own algorithm, (phased) output perturbation."""
