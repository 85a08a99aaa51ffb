"""What people hand in: names on the command line, code of their own, stored outputs."""
