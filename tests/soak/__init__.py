"""A long night in short: all that can go wrong, again and again, on a real repository (`make soak MINUTES=n`)."""
