"""What the papers say: their checkable statements as data, and the machines that check them."""
