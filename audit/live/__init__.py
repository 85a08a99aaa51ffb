"""Programs in any language on the tape: JSON lines over standard input and output, one process for each world."""
