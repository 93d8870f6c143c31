"""`cuecard explain`: the section about a code in docs/checks.md, which comes with the package."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from cuecard.cli.check.codes import CODES
from cuecard.cli.check.selection import named
from cuecard.cli.json_text import json_text
from cuecard.errors import Problem
from cuecard.outside.content import content_root

PAGE = Path("docs", "checks.md")
_CHAPTER = re.compile(r"^### `([a-z0-9-]+)`\n\n(.*?)\s*(?=^### `|^<!-- end -->)", re.MULTILINE | re.DOTALL)


def explain(codes: Sequence[str], *, json: bool = False) -> None:
    """Print what each code means, with its examples; without codes, print one line for each known code.

    Args:
        codes: codes or prefixes of codes.
        json: whether to print `{"codes": [{"code", "docs", "meaning", "text"}, ...]}`.

    Raises:
        InputError: when one matches no code.
    """
    wanted = named(codes) if codes else list(CODES)
    texts = _texts() if codes or json else {}
    if json:
        rows = [{"code": code, "docs": _place(code), "meaning": CODES[code], "text": texts[code]} for code in wanted]
        print(json_text({"codes": rows}))
    elif codes:
        print("\n\n".join(f"{code} ({_place(code)})\n\n{texts[code]}" for code in wanted))
    else:
        width = max(map(len, CODES))
        print("\n".join(f"{code:{width}}  {CODES[code]}" for code in wanted))


def _texts() -> Mapping[str, str]:
    page = (content_root() / PAGE).read_text(encoding="utf-8")
    return {found[1]: found[2] for found in _CHAPTER.finditer(page)}


def _place(code: str) -> str:
    return Problem(code, "").docs
