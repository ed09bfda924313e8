"""The screen in a browser on this machine: a web server that starts a viewer for each visit."""
