"""docs/limits.md lists every limit, as it is in the code."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import cuecard
from cuecard import Engine
from cuecard.types import Limits

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/limits.md").read_text(encoding="utf-8")
GUARANTEES = (ROOT / "docs/guarantees.md").read_text(encoding="utf-8")
ROWS = {place: int(number.replace(",", "")) for number, place in re.findall(r"\| ([\d,]+) \| `([\w.]+)` \|", PAGE)}
ELSEWHERE = {
    "cuecard.catalogue.fields.MAX_TEXT": "what of a text is searched",
    "cuecard.files.cache.MAX_FILE": "the cache is made anew",
    "cuecard.files.cache.MAX_FOLDER": "the same",
    "cuecard.sources.skill_selection.MAX_ALTERNATIVES": "a pattern with more matches nothing",
    "cuecard.studio.editor_view.MAX_SCORED": "further phrases have no score beside them",
}
"""Bounds of which nobody is told, because nothing is refused."""


def value(place: str) -> int:
    """What the code says."""
    home, _, name = place.rpartition(".")
    found = getattr(Limits(), name) if home == "cuecard.types.Limits" else getattr(import_module(home), name)
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize("place", ROWS)
def test_a_limit_is_what_the_page_says(place: str) -> None:
    assert value(place) == ROWS[place]


def test_the_page_has_every_limit() -> None:
    package = Path(cuecard.__file__).parent
    named = set()
    for path in package.rglob("*.py"):
        module = ".".join(("cuecard", *path.relative_to(package).with_suffix("").parts))
        for line in re.findall(r"^(_?MAX_[A-Z_, ]+?)(?:: Final)? = ", path.read_text(encoding="utf-8"), re.MULTILINE):
            named |= {f"{module}.{name}" for name in line.split(", ")}

    assert named - {*ELSEWHERE} <= {*ROWS}


def test_the_agent_file_has_the_same_defaults(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("agent: a\nsections: [{id: a, text: x}]\n", encoding="utf-8")
    spec = Engine.open(tmp_path).agent.spec.limits

    assert (spec.work, spec.output) == (Limits().work, Limits().output)


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", GUARANTEES, re.DOTALL))
def test_an_example_of_the_page_is_an_agent(tmp_path: Path, text: str) -> None:
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")

    assert Engine.open(tmp_path).name == "helper"
