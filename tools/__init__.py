"""Programs for working on Recall itself; none of them is installed."""
