"""Paper second_order_erm: private second-order necessary points of smooth non-convex ERM."""
