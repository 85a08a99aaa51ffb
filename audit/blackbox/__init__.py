"""Audits of any callable, command line or stored outputs, and the zoo of known bugs."""
