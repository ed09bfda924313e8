"""recall.toml: what the user decided, as frozen values."""
