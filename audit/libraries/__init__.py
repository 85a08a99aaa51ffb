"""Real libraries on the tape: their mechanisms hand back what the tape says, their models stay as they are."""
