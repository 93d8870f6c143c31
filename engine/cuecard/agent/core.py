"""Core tools: those that are active from the first request, by name or pattern."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from cuecard.config.agent_file import ToolsSpec


def is_pattern(name: str) -> bool:
    """Whether a name in a file stands for any number of tools."""
    return "*" in name or "?" in name


def core_tools(spec: ToolsSpec, known: Iterable[str]) -> tuple[str, ...]:
    """The core tools: those that are named, in the file's order, then those of the known ones that match a pattern.

    No pattern matches the search tool: it is there where something can be found, and not because of its name.
    """
    named = (name for name in spec.core if not is_pattern(name))
    patterns = [name for name in spec.core if is_pattern(name)]
    matching = (
        name for name in known if name != spec.search.tool and any(fnmatchcase(name, each) for each in patterns)
    )
    return tuple(dict.fromkeys((*named, *(matching if patterns else ()))))
