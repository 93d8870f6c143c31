"""A library on each kind of database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuecard import Library
from unit.library.databases import KINDS, new_database, running_server, unique


@pytest.fixture(scope="session")
def server() -> Iterator[Any]:
    with running_server() as started:
        yield started


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/prompts.db"
    return new_database(request.getfixturevalue("server"), unique(request))


@pytest.fixture
def library(url: str) -> Iterator[Library]:
    made = Library(url)
    made.create()
    yield made
    made.close()


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """An agent of sections, with two tools; its tool files lie beside its folder."""
    folder = tmp_path / "prompts" / "helper"
    (folder / "sections").mkdir(parents=True)
    (tmp_path / "tools").mkdir()
    (folder / "agent.yaml").write_text(
        """\
agent: helper
inputs: {name: {default: friend}}
writable: {notes: {section: notes, max_chars: 100}}
layout: {heading: "## {{title}}\\n"}
sections:
  - {id: rules, title: Rules, file: sections/rules.md}
  - {id: notes, text: "## Notes\\n\\nNothing yet."}
  - id: task # what it is for
    title: Task
    text: Help {{{name}}}.
  - id: tools
    text: "{{{activeProtocols}}}"
tools: {instructions: ../../tools, core: [list_pages]}
"""
    )
    (folder / "sections" / "rules.md").write_text("Be brief.\n")
    (tmp_path / "tools" / "pages.yaml").write_text(
        """\
category: pages
tools:
  list_pages: {description: Lists pages, before: None required} # for all
  get_page:
    description: Shows a page
    phrases: [read a page]
    gotcha: Ids are numbers.
"""
    )
    return folder
