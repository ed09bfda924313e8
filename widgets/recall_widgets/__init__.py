"""Views of plain values for the full-screen app: they import Textual and `recall.domain`, nothing else."""
