"""Where the source of an algorithm comes from: own code, plain NumPy, programs; each becomes something to audit."""
