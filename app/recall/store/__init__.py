"""The store: SQLite, and nothing else imports it."""
