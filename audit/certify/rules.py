"""All transfer rules: importing this module registers them."""

from . import arithmetic, products, reductions, shapes

__all__ = ["arithmetic", "products", "reductions", "shapes"]
