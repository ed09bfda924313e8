"""A cart is a list of (name, cents, count)."""

Line = tuple[str, int, int]


def total(lines: list[Line]) -> int:
    """Add up a cart, in cents."""
    return sum(cents for _, cents, _ in lines)
