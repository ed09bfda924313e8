"""What happened since a moment, in figures. Everything comes from runs and events that the store keeps anyway."""
