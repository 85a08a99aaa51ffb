"""Lower bounds on epsilon from exact privacy losses, importance-tilted."""
