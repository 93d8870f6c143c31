"""An agent whose every word is foreign: what then still is English was said by no word."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from cuecard import Engine
from cuecard.config.words_spec import ENGLISH
from cuecard.types import Json

_LATIN = "abcdefghijklmnopqrstuvwxyz"
_FOREIGN = "абвгдежзийклмнопрстуфхцчшщ"
_TABLE = str.maketrans(_LATIN + _LATIN.upper(), _FOREIGN + _FOREIGN.upper())

AGENT: dict[str, Any] = {
    "agent": "a",
    "layout": {"heading": "## {{title}}\n"},
    "inputs": {"i": {"default": ""}},
    "sections": [
        {"id": "a", "title": "Сад", "text": "Это сад."},
        {"id": "b", "title": "Дом", "text": "{{{i}}}"},
        {"id": "c", "title": "Лес", "text": "{{{workingMemory}}}"},
        {"id": "d", "title": "Луг", "text": "{{{activeProtocols}}}"},
    ],
    "tools": {"instructions": "tools.yaml", "core": ["s_1"], "search": {"tool": "s_1"}},
    "memory": {"extract": [{"at": "x", "type": "т"}]},
}
TOOLS = {
    "category": "к",
    "tools": {
        name: {"phrases": [f"искать {word}", word], "before": "б", "after": "п", "next": "д", "gotcha": "о"}
        for name, word in (("s_1", "всё"), ("t_1", "яблоко"), ("t_2", "груша"))
    },
}


def translated(value: Json) -> Json:
    """Every Latin letter of a word, but for its placeholders, as a foreign one; so are the names of its elements."""
    if isinstance(value, dict):
        return {key: translated(item) for key, item in value.items()}
    pieces = re.split(r"(\{\w+\})", value)
    return "".join(piece if piece.startswith("{") else piece.translate(_TABLE) for piece in pieces)


def words() -> dict[str, Any]:
    """Every word that there is, also those that will be added one day."""
    made: dict[str, Any] = translated(ENGLISH.model_dump())
    made["skills"]["refused"] = "нельзя"  # what the operating system says is English in every language
    return made


def engine(
    folder: Path, agent: dict[str, Any] | None = None, tools: dict[str, Any] | None = None, **more: Json
) -> Engine:
    (folder / "tools.yaml").write_text(json.dumps(tools or TOOLS), encoding="utf-8")
    (folder / "agent.yaml").write_text(json.dumps({**(agent or AGENT), **more}), encoding="utf-8")
    return Engine.open(folder / "agent.yaml")


def english(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]{2,}", text)
