"""Versions are whole agents that were checked; labels move, and everything that moved is in the audit trail."""

from __future__ import annotations

import random
import sqlite3
import threading
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import event

from cuecard import Engine, InputError, Library, SpecError
from cuecard.library.tables import REVISION, REVISIONS, TABLES
from cuecard.types import LibraryError
from forked import start
from shipped import ROOT
from unit.library.databases import KINDS, WHATEVER_THE_DATABASE, database_on, running_server, small_disk


def rules(folder: Path, text: str) -> Path:
    (folder / "sections" / "rules.md").write_text(text)
    return folder


def codes(error: pytest.ExceptionInfo[Any]) -> list[str]:
    return [problem.code for problem in error.value.problems]


def test_versions_are_numbered_per_agent_and_an_equal_one_is_not_made_twice(library: Library, agent: Path) -> None:
    first = library.publish(agent, "the first", author="Ann")
    again = library.publish(agent, "the same", author="Bob")
    second = library.publish(rules(agent, "Be kind.\n"), "kinder", author="Bob", label="production")

    assert (first.number, again, second.number, second.parent) == (1, first, 2, 1)
    assert [str(each) for each in library.versions("helper")] == ["helper@2", "helper@1"]
    assert (library.show("helper@1").author, library.show("helper@1").message) == ("Ann", "the first")
    assert library.show("helper") == library.show("helper@production") == library.show("helper@latest") == second
    assert library.agents() == ("helper",)


def test_a_version_has_the_fingerprint_that_manifests_tell(library: Library, agent: Path) -> None:
    call = Engine.open(agent).prepare_call()

    assert library.publish(agent, "the first", author="Ann").configuration == call.configuration.sha256


def test_a_bad_version_gets_no_label_but_draft_and_is_shown_as_check_shows_it(library: Library, agent: Path) -> None:
    rules(agent, "Be {{brief}}.\n")
    with pytest.raises(SpecError) as refused:
        library.publish(agent, "broken", author="Ann")

    assert "sections/rules.md:1:6: error[undeclared-input]" in str(refused.value)
    assert library.agents() == ()

    draft = library.publish(agent, "broken", author="Ann", label="draft")
    with pytest.raises(SpecError, match=r"helper@1/sections/rules\.md:1:6: error"):
        library.label("helper@draft", "production", author="Ann")

    assert draft.labels == ("draft",)
    assert [move.label for move in library.moves("helper")] == ["draft"]


def test_a_warning_refuses_a_version_too(library: Library, agent: Path) -> None:
    file = agent / "agent.yaml"
    file.write_text(file.read_text().replace("{{{name}}}", "you"))

    with pytest.raises(SpecError, match="unused-input"):
        library.publish(agent, "an input too many", author="Ann")


def test_labels_move_and_roll_back_one_move_at_a_time(library: Library, agent: Path) -> None:
    for number, text in enumerate(("Be brief.\n", "Be kind.\n", "Be quick.\n"), 1):
        library.publish(rules(agent, text), f"number {number}", author="Ann", label="production")

    assert [library.rollback("helper@production", author="Bob").number for _ in range(2)] == [2, 1]
    with pytest.raises(InputError) as error:
        library.rollback("helper@production", author="Bob")

    assert codes(error) == ["no-rollback"]
    assert library.show("helper@latest").number == 3
    library.label("helper@3", "production", author="Ann", message="it was right")
    assert library.rollback("helper", author="Bob").number == 1
    told = [(each.action, each.before, each.after) for each in library.moves("helper") if each.label == "production"]
    assert told == [
        ("publish", None, 1),
        ("publish", 1, 2),
        ("publish", 2, 3),
        ("rollback", 3, 2),
        ("rollback", 2, 1),
        ("label", 1, 3),
        ("rollback", 3, 1),
    ]


def test_a_label_is_removed_and_the_version_stays(library: Library, agent: Path) -> None:
    library.publish(agent, "the first", author="Ann", label="staging")
    library.unlabel("helper@staging", author="Ann")

    with pytest.raises(InputError) as error:
        library.show("helper@staging")
    assert codes(error) == ["unknown-label"]
    assert library.show("helper@1").labels == ("latest",)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("helper@stagin", "unknown-label"),
        ("helper@7", "unknown-version"),
        ("helpr", "unknown-agent"),
        ("helper@", "wrong-argument"),
        ("@production", "wrong-argument"),
        ("helper@0", "wrong-argument"),
        ("helper@1\0", "wrong-argument"),
        ("a" * 100_000, "wrong-argument"),
        ("helper@99999999999999999999", "wrong-argument"),
    ],
)
@WHATEVER_THE_DATABASE
def test_a_name_that_stands_for_nothing_is_a_clear_error(library: Library, agent: Path, name: str, code: str) -> None:
    library.publish(agent, "the first", author="Ann", label="staging")

    with pytest.raises(InputError) as error:
        library.show(name)
    assert codes(error) == [code]
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("text", ["", "  ", "a\0b", "\x1b[2J", "x" * 2001, "\ud800"])
@WHATEVER_THE_DATABASE
def test_messages_that_no_database_or_terminal_can_hold_are_refused(library: Library, agent: Path, text: str) -> None:
    for given in ({"author": text, "message": "m"}, {"author": "Ann", "message": text}):
        with pytest.raises(InputError):
            library.publish(agent, given["message"], author=given["author"])
    assert library.agents() == ()


def test_latest_is_the_librarys_own(library: Library, agent: Path) -> None:
    library.publish(agent, "the first", author="Ann")

    with pytest.raises(InputError, match="latest"):
        library.label("helper@1", "latest", author="Ann")
    with pytest.raises(InputError, match="latest"):
        library.unlabel("helper@latest", author="Ann")


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("sqlite", "cms"),
        ("postgresql", "cms"),
        ("sqlite", "mushroom"),
        ("postgresql", "pioneer"),
        ("sqlite", "mistermorph"),
        ("postgresql", "polyant"),
    ],
    indirect=["url"],
)
def test_an_export_is_a_folder_that_opens_and_comes_back_byte_for_byte(
    library: Library, tmp_path: Path, name: str
) -> None:
    version = library.publish(ROOT / "prompts" / name, "shipped", author="Ann")
    file = library.export(str(version), tmp_path / "out")
    other = Library(f"sqlite:///{tmp_path}/other.db")
    other.create()
    back = other.read_back(tmp_path / "out", label="production")
    other.export(str(back), tmp_path / "again")
    other.close()
    tops = (tmp_path / "out", tmp_path / "again")
    files = [{each.relative_to(top): each.read_bytes() for each in top.rglob("*") if each.is_file()} for top in tops]

    assert (back.sha256, back.author, back.message) == (version.sha256, "Ann", "shipped")
    assert files[0] == files[1]
    assert Engine.open(file).agent.sha256 == version.configuration


@pytest.mark.parametrize("name", ["helper@latest", "helper@1"])
def test_a_rollback_is_of_a_label_that_callers_move(library: Library, agent: Path, name: str) -> None:
    library.publish(agent, "the first", author="Ann")
    rules(agent, "Be kind.\n")
    library.publish(agent, "the second", author="Ann")

    with pytest.raises(InputError) as error:
        library.rollback(name, author="Ann")
    assert codes(error) == ["wrong-argument"]
    assert library.show("helper@latest").number == 2


def test_an_export_that_was_edited_by_hand_is_refused_with_the_file(
    library: Library, agent: Path, tmp_path: Path
) -> None:
    library.publish(agent, "the first", author="Ann")
    library.export("helper@1", tmp_path / "out")
    next((tmp_path / "out").rglob("rules.md")).write_text("Be rude.\n")

    with pytest.raises(InputError, match=r"prompts/helper/sections/rules\.md") as error:
        library.read_back(tmp_path / "out")
    assert codes(error) == ["edited-export"]
    with pytest.raises(InputError, match="not empty"):
        library.export("helper@1", tmp_path / "out")
    with pytest.raises(InputError, match="no such folder") as error:
        library.read_back(tmp_path / "gone")
    assert codes(error) == ["missing-file"]
    for note in ("", "{}", "[1]", '{"format": 2}', "[" * 100_000):
        (tmp_path / "out" / "library.json").write_text(note)
        with pytest.raises(InputError) as error:
            library.read_back(tmp_path / "out")
        assert codes(error) == ["edited-export"]


def test_files_that_are_missing_are_told_and_nothing_is_published(library: Library, agent: Path) -> None:
    (agent / "sections" / "rules.md").unlink()

    with pytest.raises(SpecError, match="missing-file"):
        library.publish(agent, "half", author="Ann", label="draft")
    assert library.agents() == ()


def test_two_versions_are_compared_file_by_file(library: Library, agent: Path) -> None:
    library.publish(agent, "the first", author="Ann")
    library.publish(rules(agent, "Be kind.\n"), "kinder", author="Ann")

    assert library.diff("helper@1", "helper@2").splitlines()[-2:] == ["-Be brief.", "+Be kind."]
    assert library.diff("helper@1", "helper@1") == ""
    with pytest.raises(InputError, match="two agents"):
        library.diff("helper@1", "other@1")


def test_writers_at_the_same_time_make_one_version_each_and_none_twice(url: str, agent: Path) -> None:
    library = Library(url, timeout=60)
    library.create()
    library.publish(agent, "the first", author="Ann", label="production")
    texts = [f"Note {number % 3}." for number in range(6)]
    threads = [threading.Thread(target=library.write, args=("helper", "notes", text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [each.number for each in library.versions("helper")] == list(range(4, 0, -1))
    library.close()


def test_a_library_that_is_not_there_is_told_and_no_file_is_made(tmp_path: Path) -> None:
    library = Library(f"sqlite:///{tmp_path}/prompts.db")
    with pytest.raises(LibraryError, match="no-library"):
        library.agents()

    assert list(tmp_path.iterdir()) == []


def test_migrations_of_a_newer_version_are_refused_with_both_named(library: Library, url: str) -> None:
    if not url.startswith("sqlite"):
        pytest.skip("the same code for both")
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        connection.execute("UPDATE cuecard_library_revision SET version_num = '0007'")
    connection.close()

    for use in (Library(url).agents, Library(url).upgrade, Library(url).create):
        with pytest.raises(LibraryError, match=r"revision 0007; .* up to 0001"):
            use()


def test_the_tables_are_those_that_the_migrations_make(library: Library) -> None:
    with library._database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": REVISIONS})

        assert compare_metadata(context, TABLES) == []
        assert context.get_current_revision() == REVISION
    assert library.create() == library.upgrade() == REVISION


def test_a_full_database_is_told_and_what_was_there_is_whole(tmp_path: Path, agent: Path) -> None:
    library = Library(f"sqlite:///{tmp_path}/prompts.db")
    library.create()
    first = library.publish(agent, "the first", author="Ann", label="production")
    event.listen(library._database._engine, "engine_connect", _fill)
    rules(agent, "Be brief. " * 20_000)

    with pytest.raises(LibraryError, match="full") as error:
        library.publish(agent, "large", author="Ann", label="production")
    assert codes(error) == ["library-away"]
    assert library.versions("helper") == (first,)
    library.close()


def _fill(connection: object) -> None:
    connection.connection.execute("PRAGMA max_page_count = 12")  # type: ignore[attr-defined] # the driver's own


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_system_without_room_is_told_and_there_is_room_again(kind: str, agent: Path) -> None:
    with ExitStack() as ends:
        disk = ends.enter_context(small_disk(512 if kind == "sqlite" else 10 * 1024))
        if kind == "sqlite":
            url = f"sqlite:///{disk}/prompts.db"
        else:
            url = database_on(disk, ends.enter_context(running_server()), "small")
        library = ends.enter_context(closing(Library(url)))
        library.create()
        first = library.publish(agent, "the first", author="Ann", label="production")
        kept = library.texts("helper")
        fill = disk / "fill"
        with suppress(OSError), fill.open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
        rules(agent, "".join(map(chr, random.Random(1).choices(range(0x4E00, 0x9000), k=50_000))))  # noqa: S311 - a draw

        with pytest.raises(LibraryError, match="full: nothing was written") as error:
            library.publish(agent, "large", author="Ann", label="production")
        assert codes(error) == ["library-away"]
        assert (library.versions("helper"), library.texts("helper")) == ((first,), kept)
        fill.unlink()
        assert library.publish(agent, "large", author="Ann", label="production").number == 2


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:geheim@localhost:1/prompts",
        "postgresql://localhost:1/prompts?user=ann&password=geheim",
        "mysql://ann:geheim@localhost/prompts",
        "postgresql://ann:geheim@localhost:port/prompts",
        "geheim",
        "sqlite://",
    ],
)
def test_no_error_repeats_a_secret_of_the_url(url: str) -> None:
    with pytest.raises((InputError, LibraryError)) as error:
        Library(url, timeout=1).agents()

    assert "geheim" not in str(error.value) + repr(error.value)
    assert error.value.__cause__ is None


def test_a_writer_that_is_killed_leaves_all_or_nothing(library: Library, url: str, agent: Path) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    script = "import sys; from cuecard import Library; library = Library(sys.argv[1])\n"
    script += "for n in range(10**6): library.write('helper', 'notes', f'Note {n}.'); print(n, flush=True)"
    for _ in range(3):
        writer = start(url, program=script, pipes="stdout")
        assert writer.stdout
        writer.stdout.readline()
        writer.kill()
        writer.communicate()
        versions = library.versions("helper")

        assert [each.number for each in versions] == list(range(len(versions), 0, -1))
        assert library.show("helper").labels[-2:] == ("latest", "production")
        assert library.texts("helper").keys() >= {"agent.yaml", "written-by-model/notes.md"}
