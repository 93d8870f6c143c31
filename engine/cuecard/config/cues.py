"""The four cues of a tool, and how results ask for confirmation."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

Cue: TypeAlias = Literal["before", "after", "next", "gotcha"]
"""A line of a tool's instructions."""

CUES: tuple[Cue, ...] = get_args(Cue)
"""The four texts of a tool's instructions."""

META_KEY: Final = "cuecard/instructions"
"""The key of `_meta` under which a server gives a tool's instructions: `before`, `after`, `next`, `gotcha`, `phrases`;
each is optional.
"""

PENDING = "requiresConfirmation"
"""The key of a result that asks for confirmation: the tool has not changed anything yet."""
