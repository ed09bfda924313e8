"""What agents' event streams say, and how people read it. How each program prints its events is data."""
