"""Statements as derivations: each step must follow from the facts it names, and the last one is the statement."""
