"""TASKS.md as data: parsing with located problems."""
