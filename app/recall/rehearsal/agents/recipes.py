"""What the scripted agents do for each task of the rehearsal, and where they go wrong at first."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """`changes`: files with their new text, or with (pattern, replacement) pairs. `seconds` of thinking.
    `commits` is False for one that leaves its files uncommitted, `wrong_first` a last change that breaks the
    tests, `hangs_first` one that says nothing for an hour."""

    message: str
    changes: tuple[tuple[str, str | list[tuple[str, str]]], ...]
    seconds: float = 1.0
    commits: bool = True
    wrong_first: tuple[str, str | list[tuple[str, str]]] | None = None
    hangs_first: bool = False


def _test(module: str, names: str, *lines: str) -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return (
        f"import unittest\n\nfrom shop.{module} import {names}\n\n\n"
        f"class Test{module.capitalize()}(unittest.TestCase):\n    def test_{module}(self) -> None:\n{body}\n"
    )


RECIPES = {
    "R-01": Recipe(
        "count things in the cart's total",
        (
            ("shop/cart.py", [(r"sum\(cents for _, cents, _ in", "sum(cents * count for _, cents, count in")]),
            ("tests/test_cart_count.py", _test("cart", "total", "self.assertEqual(total([('tea', 300, 2)]), 600)")),
        ),
    ),
    "R-02": Recipe(
        "show the currency",
        (
            ("shop/money.py", [(r'f"\{cents', 'f"€{cents')]),
            ("tests/test_currency.py", _test("money", "format_money", "self.assertIn('€', format_money(1))")),
        ),
        seconds=2.0,
    ),
    "R-03": Recipe(
        "group thousands",
        (
            ("shop/money.py", [(r":\.2f", ":,.2f")]),
            (
                "tests/test_thousands.py",
                _test("money", "format_money", "self.assertIn('1,234', format_money(123456))"),
            ),
        ),
        seconds=2.0,
    ),
    "R-04": Recipe(
        "add discounts",
        (
            (
                "shop/discount.py",
                '"""Discounts."""\n\n\ndef discounted(cents: int, percent: int) -> int:\n'
                '    """Take a percentage off, rounded down."""\n    return cents * (100 - percent) // 100\n',
            ),
            ("tests/test_discount.py", _test("discount", "discounted", "self.assertEqual(discounted(999, 10), 899)")),
        ),
    ),
    "R-05": Recipe(
        "add value added tax",
        (
            (
                "shop/tax.py",
                '"""Value added tax."""\n\n\ndef with_tax(cents: int, percent: int) -> int:\n'
                '    """Add a percentage, rounded half up."""\n    return (cents * (100 + percent) + 50) // 100\n',
            ),
            ("tests/test_tax.py", _test("tax", "with_tax", "self.assertEqual(with_tax(105, 10), 116)")),
        ),
    ),
    "R-06": Recipe(
        "print receipts",
        (
            (
                "shop/receipt.py",
                '"""Receipts."""\n\nfrom shop.cart import Line, total\nfrom shop.money import format_money\n\n\n'
                'def receipt(lines: list[Line]) -> str:\n    """Write a line a thing, then the total."""\n'
                '    rows = [f"{count} x {name} {format_money(cents)}" for name, cents, count in lines]\n'
                '    return "\\n".join([*rows, f"total {format_money(total(lines))}"])\n',
            ),
            (
                "tests/test_receipt.py",
                _test("receipt", "receipt", "self.assertIn('total €6.00', receipt([('tea', 300, 2)]))"),
            ),
        ),
    ),
    "R-07": Recipe(
        "know the opening hours",
        (
            (
                "shop/hours.py",
                '"""Opening hours."""\n\n\ndef is_open(hour: int) -> bool:\n    """Is the shop open?"""\n'
                "    return 9 <= hour < 18\n",
            ),
            ("tests/test_hours.py", _test("hours", "is_open", "self.assertTrue(is_open(9) and not is_open(18))")),
        ),
        commits=False,
    ),
    "R-08": Recipe(
        "keep stock",
        (
            (
                "shop/stock.py",
                '"""Stock."""\n\n\nclass Stock:\n    """How many of one thing are there."""\n\n'
                "    def __init__(self) -> None:\n        self.count = 0\n\n"
                "    def put_in(self, count: int) -> None:\n        self.count += count\n\n"
                "    def take_out(self, count: int) -> bool:\n        if count > self.count:\n"
                "            return False\n        self.count -= count\n        return True\n",
            ),
            (
                "tests/test_stock.py",
                _test("stock", "Stock", "stock = Stock()", "stock.put_in(2)", "self.assertFalse(stock.take_out(3))"),
            ),
        ),
        wrong_first=("shop/stock.py", [(r"if count > self.count:", "if count < 0:")]),
    ),
    "R-09": Recipe(
        "make slugs",
        (
            (
                "shop/names.py",
                '"""Names of things."""\n\n\ndef slug(name: str) -> str:\n    """Lower case, with dashes."""\n'
                '    return "-".join(name.lower().split())\n',
            ),
            ("tests/test_names.py", _test("names", "slug", "self.assertEqual(slug('Green  Tea'), 'green-tea')")),
        ),
        hangs_first=True,
    ),
    "R-10": Recipe(
        "redeem vouchers",
        (
            (
                "shop/voucher.py",
                '"""Vouchers."""\n\n\ndef redeem(cents: int, voucher: int) -> int:\n'
                '    """Subtract a voucher, never below zero."""\n    return max(cents - voucher, 0)\n',
            ),
            ("tests/test_voucher.py", _test("voucher", "redeem", "self.assertEqual(redeem(100, 300), 0)")),
        ),
    ),
    "R-11": Recipe(
        "add a command line",
        (
            (
                "shop/__main__.py",
                '"""Print a receipt for a sample cart."""\n\nfrom shop.receipt import receipt\n\n'
                'print(receipt([("tea", 300, 2), ("cake", 450, 1)]))\n',
            ),
        ),
    ),
    "R-12": Recipe(
        "describe the command line",
        (
            (
                "README.md",
                [(r"\Z", "\n## Command line\n\n`python3 -m shop` prints a receipt for a sample cart.\n")],
            ),
        ),
    ),
}
