"""Tables and blocks of Markdown pages, for the tests that run what they show."""

from __future__ import annotations

import re
from collections.abc import Iterator

BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def cells(line: str) -> list[str]:
    """The cells of a row."""
    return [cell.strip(" ").replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def code(cell: str) -> str:
    """What stands in a cell as code."""
    found = re.fullmatch(r"`` (.*) ``|`(.*)`", cell)
    if not found:
        raise AssertionError(f"no code: {cell}")
    return found[1] or found[2]


def rows(page: str, head: str) -> Iterator[list[str]]:
    """The rows of every table whose head begins like this."""
    for table in re.split(rf"^{re.escape(head)}.*\n", page, flags=re.MULTILINE)[1:]:
        for line in table.partition("\n\n")[0].splitlines()[1:]:
            yield cells(line)
