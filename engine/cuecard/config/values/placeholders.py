"""Texts of an agent file with `{placeholders}`."""

from __future__ import annotations

import re
from collections.abc import Mapping

PLACEHOLDER = re.compile(r"\{(\w+)\}")
"""A name between braces; any other brace is an ordinary character."""


def fill(form: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled in one pass, so that braces in a value stay as they are."""
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), form)
