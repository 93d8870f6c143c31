"""docs/api: every public name has an entry, what it says is what the docstring says, and its example uses it.

The examples are run by `test_docs.py`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.reference.names import public_names
from docs.reference.rendering import rendered
from docs.reference.write import FOLDER, MARK, current

PAGES = sorted(FOLDER.glob("*.md"))
ENTRY = re.compile(
    r"^## `([\w.]+)`\n\n<!-- made: ([\w.]+) -->\n.*?^<!-- end -->\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL
)
ENTRIES = [(path.name, *found) for path in PAGES for found in ENTRY.findall(path.read_text(encoding="utf-8"))]


def test_every_public_name_has_one_entry_and_nothing_else_has() -> None:
    listed = [name for _, _, name, _ in ENTRIES]
    missing = sorted(public_names() - {*listed})

    assert missing == [], "add an entry to a page of docs/api, and run `make api`"
    assert sorted(listed) == sorted(public_names())
    assert sum(len(MARK.findall(path.read_text(encoding="utf-8"))) for path in PAGES) == len(listed)


@pytest.mark.parametrize("path", PAGES, ids=[path.stem for path in PAGES])
def test_what_a_page_says_is_what_the_docstrings_say(path: Path) -> None:
    page = path.read_text(encoding="utf-8")

    assert current(page) == page, "run `make api`"


@pytest.mark.parametrize(("page", "title", "name", "rest"), ENTRIES, ids=[name for _, _, name, _ in ENTRIES])
def test_a_name_is_described_and_its_example_uses_it(page: str, title: str, name: str, rest: str) -> None:
    example = re.search(r"^```python\n(.*?)^```$", rest, re.MULTILINE | re.DOTALL)
    text = re.sub(r"^`.*`$|^- .*$", "", rendered(name), flags=re.MULTILINE)

    assert name.endswith(title)
    assert len(text.split()) > 3, f"{page}: {name} has no docstring"
    assert example, f"{page}: {name} has no example"
    assert re.search(rf"\b{name.rpartition('.')[2]}\b", example[1])


def test_a_signature_has_types_defaults_and_errors() -> None:
    shown = rendered("cuecard.Engine")

    assert '`open(path, *, delivery=None, clock=utc_now, salt="", key="", ranker=None' in shown
    assert "- `path: str | Path`: " in shown
    assert "- `SpecError`: " in shown
    assert "### `Engine.prepare_step`" in shown
    assert "_records" not in shown
