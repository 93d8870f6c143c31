"""The keys that say where a section's content comes from."""

from __future__ import annotations

SOURCES = ("files", "tools", "skills", "clock", "facts", "rows")
"""The keys of the sources that can fill a section, besides its own text."""

TEXTS = ("text", "file", "choose")
"""The keys for a section's text; a section has at most one of them."""
