"""The office: every agent as an engineer in pixels, at the place where its work stands."""
