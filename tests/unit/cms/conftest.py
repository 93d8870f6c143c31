from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from typing_extensions import override

from cases.system_rows import ROOT, rows_proved_by
from cms.database import Clock, Database, Json
from cms.errors import CmsError
from cms.seed import open_site
from cms.snapshot import Snapshot, snapshot
from cms.tools import call
from unit.cms.talked import Talk


def ticking() -> Clock:
    """A clock that moves on by a minute each time somebody looks."""
    minutes = count()
    return lambda: datetime(2026, 3, 1, 8, tzinfo=UTC) + timedelta(minutes=next(minutes))


@dataclass(frozen=True)
class Site:
    """A seeded site in a folder of its own, used through the table of tools."""

    db: Database
    folder: Path

    def use(self, tool: str, **arguments: object) -> Json:
        return call(self.db, tool, arguments)

    def refuse(self, tool: str, **arguments: object) -> CmsError:
        """The error of a call that must be refused and must leave everything as it was."""
        before = self.content()
        with pytest.raises(CmsError) as caught:
            self.use(tool, **arguments)

        assert self.content() == before
        return caught.value

    def use_and_confirm(self, tool: str, **arguments: object) -> Json:
        """The three steps: ask, see that nothing has happened yet, confirm."""
        before = self.content()
        asked = self.use(tool, **arguments)

        assert asked.keys() == {"requiresConfirmation", "message"}
        assert (asked["requiresConfirmation"], bool(asked["message"]), self.content()) == (True, True, before)
        done = self.use(tool, **arguments, confirmed=True)
        assert self.content() != before
        return done

    def content(self) -> Snapshot:
        return snapshot(self.db)


@dataclass(frozen=True)
class Talked(Site):
    """The same, used by an assistant in one conversation: each use is a turn."""

    talk: Talk

    @override
    def use(self, tool: str, **arguments: object) -> Json:
        answer: Json = self.talk.use(tool, arguments)
        return answer


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cms")
    open_site(folder, clock=ticking()).close()
    return folder


def open_quickly(folder: Path, clock: Clock) -> Database:
    """A site whose database does not wait for the disk after each change: only a loss of power would show that."""
    db = open_site(folder, clock=clock)
    db.connection.execute("PRAGMA synchronous = OFF")
    return db


@pytest.fixture
def new_site(seeded: Path, tmp_path: Path) -> Iterator[Callable[[], Site]]:
    """Makes sites, for tests that need more than one."""
    opened: list[Site] = []

    def make() -> Site:
        folder = tmp_path / f"site-{len(opened)}"
        shutil.copytree(seeded, folder)
        opened.append(Site(open_quickly(folder, ticking()), folder))
        return opened[-1]

    yield make
    for site in opened:
        site.db.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that proves rows of the five systems calls the tools itself, and then in a conversation on a host."""
    if "site" in metafunc.fixturenames:
        file, name = metafunc.definition.path, metafunc.function.__name__
        rows = rows_proved_by(f"{file.relative_to(ROOT).as_posix()}::{name}")
        metafunc.parametrize(
            "site",
            [False, True] if rows else [False],
            indirect=True,
            ids=["called", "+".join(rows)][: 2 if rows else 1],
        )


@pytest.fixture(scope="session")
def begun(seeded: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """The first turn of a conversation."""
    folder = tmp_path_factory.mktemp("begun")
    shutil.copytree(seeded, folder, dirs_exist_ok=True)
    with closing(open_quickly(folder, ticking())) as db:
        talk = Talk(db)
        talk.use("cms_getSiteOverview", {})
        yield talk


@pytest.fixture
def site(new_site: Callable[[], Site], request: pytest.FixtureRequest) -> Site:
    made = new_site()
    if not request.param:
        return made
    begun: Talk = request.getfixturevalue("begun")
    return Talked(made.db, made.folder, begun.on(made.db))
