"""The parts of an assay: which pair is audited, what it realises, what leaks, and why the verdict is what it is."""
