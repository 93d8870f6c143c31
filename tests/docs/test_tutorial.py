"""The tutorial works for a reader who has nothing but the wheel and an empty folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.reader import reading, typed
from docs.walk import Walk
from loopback_models import loopback_models
from once import unpacked_wheel

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
SCRIPT = ([("tool_search", {"query": "save a note"})], [("add_note", {"title": "Dentist", "text": "Monday at nine"})])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the unpacked wheel, which comes before the checkout."""
    return unpacked_wheel(tmp_path_factory)


@pytest.fixture(scope="module")
def walked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    """The reader at the end of the page, who has seen all that it shows."""
    with reading(wheel) as typed_there:
        walk = Walk(tmp_path_factory.mktemp("empty"), {"PYTHONPATH": str(wheel)}, typed_there)
        walk.follow(PAGE)
        yield walk


def test_every_command_prints_what_the_page_shows(walked: Walk) -> None:
    assert walked.steps == len(re.findall(r"^```\w+$", PAGE, re.MULTILINE))


def test_the_wheel_is_what_is_tried(walked: Walk, wheel: Path) -> None:
    (walked.folder / "where.py").write_text("import cuecard\nprint(cuecard.__file__)\n", encoding="utf-8")

    assert walked.run(["python", "where.py"]).startswith(str(wheel))


def test_with_a_key_the_loop_talks_to_the_service(walked: Walk) -> None:
    with loopback_models(SCRIPT) as service:
        given = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": service.url, "NO_PROXY": "127.0.0.1"}

        shown = typed(walked.folder, ["python", "chat.py"], {**os.environ, **given})

    assert shown.splitlines()[-1] == "Done."
    assert ["<add_note>" in str(asked) for asked in service.asked] == [False, True, True]
