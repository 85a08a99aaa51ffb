"""Claims as code: what a project says of its mechanisms, as a file that every change is held to."""
