"""What Recall decides, as values and pure functions: no I/O, no clock, no threads, no git, no SQL."""
