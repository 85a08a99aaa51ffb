"""Everything that the papers say, place by place, and what decides it: one TOML file a paper."""
