"""The look of the full-screen app: sheets and themes."""
