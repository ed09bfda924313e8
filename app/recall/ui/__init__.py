"""The full-screen app: wiring, screens, view models. It may only do what the headless mode and the CLI can do."""
