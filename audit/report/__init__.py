"""Tables and pages a person looks at."""
