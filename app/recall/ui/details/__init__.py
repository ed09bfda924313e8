"""From values to the lines of the screens that are about one thing: pure, tested without an app."""
