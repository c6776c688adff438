"""What the site needs beside mkdocs and its plugins: see `events.py`, which mkdocs calls."""
