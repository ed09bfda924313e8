import unittest

from shop.money import format_money


class Money(unittest.TestCase):
    def test_two_digits(self) -> None:
        self.assertIn("3.50", format_money(350))
