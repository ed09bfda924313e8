"""Amounts are whole cents."""


def format_money(cents: int) -> str:
    """Write an amount for people."""
    return f"{cents / 100:.2f}"
