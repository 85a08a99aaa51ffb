"""Audits of any callable, command line or stored outputs."""
