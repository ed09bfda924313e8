"""The screens: each composes widgets, shows what the view models made, and turns keys into commands."""
