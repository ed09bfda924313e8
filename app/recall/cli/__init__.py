"""The `recall` command."""
