"""Agents as processes: presets, prompt, run folder, shim, mailbox, transcript, environment."""
