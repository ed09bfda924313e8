"""Recall: several coding agents on one git repository, one verified landing after another."""

__version__ = "0.1.0"
