import unittest

from shop.cart import total


class Cart(unittest.TestCase):
    def test_one_of_each(self) -> None:
        self.assertEqual(total([("tea", 300, 1), ("cake", 450, 1)]), 750)
