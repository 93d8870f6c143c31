"""Escaping as Handlebars.js 4.7 does it."""

from __future__ import annotations


def escape_html(text: str) -> str:
    """A value as `{{x}}` prints it: seven characters, in the spelling of Handlebars.js.

    A chain of replacements, because it takes a third of the time of `str.translate`.
    """
    # The ampersand goes first: the others bring ampersands in.
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;").replace("'", "&#x27;").replace("`", "&#x60;").replace("=", "&#x3D;")
