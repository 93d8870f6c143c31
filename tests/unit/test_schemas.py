"""The JSON Schemas in `schemas/` are what the models say, and every shipped YAML file names its schema."""

import re
from pathlib import Path

import pytest

from cuecard.config.json_schema import schemas
from cuecard.config.settings_pages import settings_pages
from cuecard.files.environment import described_variables
from shipped import content_root

ROOT = content_root()
FILES = sorted(
    path
    for folder in ("prompts", "tool_instructions", "examples")
    for path in (ROOT / folder).rglob("*.yaml")
    if not path.read_text(encoding="utf-8").startswith("openapi:")
)


def test_the_schemas_are_up_to_date() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "schemas").glob("*.schema.json")}

    assert written == schemas(), "run `make schemas` and read the difference"


def test_the_pages_of_settings_are_up_to_date() -> None:
    folder = Path(__file__).parents[2] / "docs" / "settings"
    written = {page.name: page.read_text(encoding="utf-8") for page in folder.glob("*.md")}

    assert written == settings_pages(described_variables()), "run `make schemas` and read the difference"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_shipped_file_names_its_schema(path: Path) -> None:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    modeline = re.fullmatch(r"# yaml-language-server: \$schema=(.+)", first)

    assert modeline, "its first line is the modeline of editors"
    # The file of another tool names the schema that this tool publishes.
    assert modeline[1].startswith("https://") or (path.parent / modeline[1]).resolve().is_file()
