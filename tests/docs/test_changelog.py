"""The changelog and the version in pyproject.toml stay in step; the release workflow compares the tag with both."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADINGS = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
RELEASE = re.compile(r"\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d{2}-\d{2})")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def _releases() -> list[tuple[tuple[int, ...], date]]:
    found = [RELEASE.fullmatch(heading) for heading in HEADINGS[1:]]
    return [(tuple(map(int, each.groups()[:3])), date.fromisoformat(each[4])) for each in found if each]


def _unreleased() -> str:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return text.partition("## [Unreleased]\n")[2].partition("\n## ")[0]


def test_unreleased_changes_come_first_and_every_other_section_is_a_dated_release() -> None:
    assert HEADINGS[0] == "[Unreleased]"
    assert [heading for heading in HEADINGS[1:] if not RELEASE.fullmatch(heading)] == []


def test_releases_are_listed_newest_first() -> None:
    assert _releases() == sorted(_releases(), reverse=True)


def test_the_version_is_the_next_release_or_the_last_one_with_nothing_changed_since() -> None:
    version = tuple(map(int, VERSION.split(".")))
    newest = max((release for release, _ in _releases()), default=(0, 0, 0))

    assert version >= newest
    assert version > newest or "- " not in _unreleased(), "raise the version in pyproject.toml before further changes"
