"""States in a folder: what is kept, what goes first, and what a stranger can put there."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cuecard import watch
from cuecard.config.documents.sources import AgentSources, SkillSource, SourceText
from cuecard.errors import Problem
from cuecard.reload.files import Look
from cuecard.reload.keeper import Keeper, LastGood, Refusal
from cuecard.reload.states import NoState
from cuecard.types import States, Status
from forked import ended, start
from unit.reload.demo import PATIENCE, QUICK, Folder

HOME = Path("/home/agent")


def state(number: int, size: int = 10) -> AgentSources:
    return AgentSources(SourceText("agent.yaml", "agent.yaml", f"agent: a{number} # {'x' * size}"))


def digests(folder: Path) -> set[str]:
    return {file.stem for file in folder.glob("*.json") if len(file.stem) == 64}


def age(folder: Path, sources: AgentSources, seconds: int) -> None:
    os.utime(folder / f"{sources.sha256()}.json", (1_000_000_000 - seconds,) * 2)


class Serving:
    def __init__(self, *digests: str) -> None:
        self.in_use = digests


def test_a_state_comes_back_with_the_names_of_the_folder_that_asks(tmp_path: Path) -> None:
    sources = replace(state(1), template=SourceText("/elsewhere/a.xml", "../a.xml", "<a>\U0001f3ac</a>"))
    digest = States(tmp_path).save(sources)
    back = States(tmp_path).load(digest, HOME)
    (file,) = tmp_path.iterdir()

    assert (file.name, digest) == (f"{sources.sha256()}.json", sources.sha256())
    assert json.loads(file.read_text("ascii")) == {"format": 1, "sha256": digest, "sources": sources.content()}
    assert back.template == SourceText("/home/a.xml", "../a.xml", "<a>\U0001f3ac</a>")
    assert back.content() == sources.content()


def test_a_fingerprint_is_of_the_texts_with_their_paths_and_roles() -> None:
    one, text = state(0), SourceText("a.md", "a.md", "x")

    def other(**more: Any) -> AgentSources:
        return replace(one, **more)

    problem = Problem("missing-file", "gone", "", "a.md")
    same = [other(problems=(problem,)), other(folders=("a",)), other(not_files=("a",))]
    roles = ("layers", "partials", "sections", "files", "instructions", "results", "skills")
    others = [
        *(other(**{role: (text,)}) for role in roles),
        *(other(**{role: text}) for role in ("template", "models")),
        other(unread=(("a", "why"),)),
        other(files=(replace(text, path="b.md"),)),
        other(files=(replace(text, text="y"),)),
        other(skills=(SkillSource("s", "s", "x", "a", "r"),)),
        other(skills=(SkillSource("s", "s", "x", "b", "r"),)),
        other(skills=(SkillSource("s", "s", "x", "a", "q"),)),
    ]

    assert {each.sha256() for each in same} == {one.sha256()}
    assert len({each.sha256() for each in (one, *others)}) == 1 + len(others)
    assert other(files=(replace(text, name="other"),)).sha256() == others[3].sha256()
    assert replace(others[-1], skills=(replace(others[-1].skills[0], strict=True),)).sha256() == others[-1].sha256()


def test_a_relative_folder_stays_where_it_was_named_when_the_process_moves_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    states = States("kept")
    monkeypatch.chdir(tmp_path / "there")

    digest = states.save(state(1))

    assert digests(tmp_path / "here" / "kept") == {digest}
    assert list((tmp_path / "there").iterdir()) == []


def test_what_was_not_used_for_the_longest_time_goes_first(tmp_path: Path) -> None:
    states = States(tmp_path, most=3)
    kept = [state(number) for number in range(3)]
    for number, sources in enumerate(kept):
        states.save(sources)
        age(tmp_path, sources, 100 - number)
    States(tmp_path).use(kept[0].sha256())
    states.save(state(3))

    assert digests(tmp_path) == {each.sha256() for each in (kept[0], kept[2], state(3))}


def test_a_state_that_serves_again_soon_is_not_written_again(tmp_path: Path) -> None:
    states, digest = States(tmp_path), state(0).sha256()
    states.save(state(0))
    states.use(digest)
    age(tmp_path, state(0), 0)
    states.use(digest)

    assert (tmp_path / f"{digest}.json").stat().st_mtime == 1_000_000_000


def test_what_serves_is_saved_again_where_its_file_is_gone_and_is_marked_as_used(tmp_path: Path) -> None:
    sources = state(0)
    kept = LastGood(States(tmp_path), HOME / "agent.yaml")
    keeper = Keeper(lambda built: built, kept, Look(sources, sources.sha256()))
    age(tmp_path, sources, 0)
    keeper.save_again()
    file = tmp_path / f"{sources.sha256()}.json"

    assert file.stat().st_mtime > 1_000_000_000
    file.unlink()
    keeper.save_again()
    assert kept.load().content() == sources.content()
    assert (keeper.state.status.number, keeper.state.status.unsaved) == (0, "")


SERVED = Status(3, "ab" * 32, datetime(2026, 11, 20, 9, tzinfo=UTC))
WRITTEN = {"number": 3, "serving": "ab" * 32, "changed": (), "refused": None, "restored": False} | {
    "watching": "polling",
    "unsaved": "",
    "stale_since": "",
    "library": None,
}
REFUSED = Refusal("cd" * 32, SERVED.since, (Problem("xml", "no root", "", "a.xml"), Problem("yaml-empty", "empty", "")))


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "serving abababababab since 2026-11-20 09:00:00+00:00 (polling)"),
        (
            {"restored": True, "watching": "events", "refused": REFUSED},
            (
                "serving abababababab since 2026-11-20 09:00:00+00:00, the last good state of an earlier run (events)\n"
                "refused cdcdcdcdcdcd since 2026-11-20 09:00:00+00:00:\n"
                "a.xml: error[xml]: no root\n\nerror[yaml-empty]: empty"
            ),
        ),
        (
            {"stale_since": "2026-11-21", "unsaved": "no room"},
            (
                "serving abababababab since 2026-11-20 09:00:00+00:00 (polling)\n"
                "stale since 2026-11-21: the library could not be asked, or the label was removed\n"
                "the last good state is not on disk: no room"
            ),
        ),
    ],
)
def test_a_status_says_what_serves_and_what_does_not(more: dict[str, Any], told: str) -> None:
    status = replace(SERVED, **more)

    assert str(status) == told
    since = {"since": "2026-11-20T09:00:00+00:00"}
    refused = {"refused": {**asdict(REFUSED), **since}} if "refused" in more else {}
    assert status.to_json() == {**WRITTEN, **since, **more, **refused}


def test_no_more_bytes_are_kept_than_allowed(tmp_path: Path) -> None:
    states = States(tmp_path, size=5000)
    for number in range(20):
        states.save(state(number, 1000))

    sizes = [file.stat().st_size for file in tmp_path.iterdir()]
    assert sum(sizes) <= 5000 < sum(sizes) + min(sizes)
    tight = States(tmp_path / "tight", size=sizes[0])
    assert tight.load(tight.save(state(19, 1000)), HOME) == States(tmp_path).load(state(19, 1000).sha256(), HOME)
    with pytest.raises(OSError, match=f"but the folder's limit is {sizes[0]:,}"):
        tight.save(state(19, 1001))
    assert state(19, 1000).sha256() in digests(tmp_path)


def test_a_state_that_serves_stays_whatever_the_limits_say(tmp_path: Path) -> None:
    states, serving = States(tmp_path, most=1), Serving(state(0).sha256(), state(1).sha256())
    states.join(serving)
    for number in range(5):
        states.save(state(number))

    assert digests(tmp_path) == {*serving.in_use, state(4).sha256()}

    del serving
    states.save(state(5))

    assert digests(tmp_path) == {state(5).sha256()}


def test_the_last_good_state_of_an_agent_goes_after_all_others(tmp_path: Path) -> None:
    states = States(tmp_path, most=3)
    LastGood(states, HOME / "agent.yaml").save(state(0))
    age(tmp_path, state(0), 1000)
    for number in range(1, 10):
        states.save(state(number))

    assert LastGood(states, HOME / "agent.yaml").load().sha256() == state(0).sha256()
    assert len(digests(tmp_path)) == 3

    others = [LastGood(states, Path(f"/home/{number}/agent.yaml")) for number in range(4)]
    for at, other in enumerate(others):
        other.save(state(at))
        os.utime(other.file, (1_000_000_000 + at,) * 2)
    states.save(state(10))
    assert [other.file.exists() for other in others] == [False, False, True, True]


def test_what_a_process_left_unfinished_is_removed_in_the_end(tmp_path: Path) -> None:
    old, new = tmp_path / ".a.unfinished", tmp_path / ".b.unfinished"
    for file in (old, new):
        file.write_text("{", encoding="utf-8")
    link = tmp_path / ".c.unfinished"
    link.symlink_to("nowhere")  # what it leads to does not count
    for file in (old, link):
        os.utime(file, (1_000_000_000,) * 2, follow_symlinks=False)
    States(tmp_path).save(state(0))

    assert {file.name for file in tmp_path.glob("*.unfinished")} == {new.name}


def test_what_another_process_removes_meanwhile_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is gone when it is looked at, one that is gone when it is removed, and a folder that is gone."""
    states, scan, unlink = States(tmp_path, most=1), os.scandir, Path.unlink
    for number in range(4):
        (tmp_path / f"{number:064}.json").write_text("{}", encoding="utf-8")

    def scan_slowly(folder: Path) -> Any:
        entries = sorted(scan(folder), key=lambda each: each.name)
        unlink(Path(entries[0]))
        return nullcontext(entries)

    def remove_twice(file: Path) -> None:
        unlink(file)
        unlink(file)

    def gone(folder: Path) -> Any:
        raise FileNotFoundError(folder)

    monkeypatch.setattr(Path, "unlink", remove_twice)
    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", scan_slowly)
        first = states.save(state(0))
    assert digests(tmp_path) == {first}

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", gone)
        second = states.save(state(1))
    assert digests(tmp_path) == {first, second}


def test_using_a_state_that_is_not_there_makes_no_file(tmp_path: Path) -> None:
    States(tmp_path).use(state(0).sha256())

    assert list(tmp_path.iterdir()) == []


def test_a_state_that_is_too_large_is_not_kept_and_takes_nothing_away(tmp_path: Path) -> None:
    states = States(tmp_path, size=2000)
    states.save(state(0))
    with pytest.raises(OSError, match="the folder's limit is 2,000"):
        states.save(state(1, 3000))

    assert digests(tmp_path) == {state(0).sha256()}


@pytest.mark.parametrize(
    "digest",
    [
        "",
        "../agent",
        "../" * 10 + "etc/passwd",
        "/etc/passwd",
        "0" * 63,
        "0" * 65,
        "A" * 64,
        "0" * 64 + "\n",
        "0" * 63 + "/",
        "\0" * 64,
        "٠" * 64,
    ],
)
def test_only_a_fingerprint_is_ever_looked_up(tmp_path: Path, digest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuecard.reload.states.read_file", lambda *_: pytest.fail("it was looked up"))
    with pytest.raises(NoState, match="has an invalid fingerprint"):
        States(tmp_path).load(digest, HOME)


def edited(change: Any) -> Any:
    def edit(record: dict[str, Any]) -> str:
        change(record)
        return json.dumps(record)

    return edit


def swapped(record: dict[str, Any]) -> None:
    sources = record["sources"]
    sources["sections"], sources["files"] = sources["files"], sources["sections"]


FORGERIES = {
    "empty": lambda _: "",
    "cut short": lambda record: json.dumps(record)[:-20],
    "deep": lambda _: "[" * 1_000_000,
    "a list": lambda _: "[]",
    "no JSON": lambda _: "\x00\xff",
    "another format": edited(lambda record: record.update(format=2)),
    "another text": edited(lambda record: record["sources"]["agent"].update(text="agent: b")),
    "another path": edited(lambda record: record["sources"]["agent"].update(path="../b.yaml")),
    "no path": edited(lambda record: record["sources"]["agent"].pop("path")),
    "a number for a path": edited(lambda record: record["sources"]["agent"].update(path=7)),
    "a text at another place": edited(swapped),
    "one text more": edited(lambda record: record["sources"]["layers"].append({"path": "b", "text": ""})),
    "another slug": edited(lambda record: record["sources"]["skills"][0].update(slug="b")),
    "a number": edited(lambda record: record.update(sources=7)),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_file_that_does_not_hold_its_state_is_ignored_and_the_reason_says_so(
    tmp_path: Path, forgery: str, caplog: pytest.LogCaptureFixture
) -> None:
    sources = full_state()
    digest = States(tmp_path).save(sources)
    file = tmp_path / f"{digest}.json"
    file.write_text(FORGERIES[forgery](json.loads(file.read_text())), encoding="latin-1")
    with pytest.raises(NoState, match="has a file in the folder of states that does not contain it") as caught:
        States(tmp_path).load(digest, HOME)

    assert caught.value.damaged
    assert digest in caplog.text

    States(tmp_path).save(sources)

    assert States(tmp_path).load(digest, HOME).content() == sources.content()


def full_state() -> AgentSources:
    return replace(
        state(0),
        files=(SourceText("a.md", "a.md", "A"),),
        skills=(SkillSource("s/SKILL.md", "s/SKILL.md", "S", "s", "skills"),),
    )


def test_what_a_file_says_next_to_its_state_counts_for_nothing(tmp_path: Path) -> None:
    digest = States(tmp_path).save(full_state())
    file = tmp_path / f"{digest}.json"
    record = json.loads(file.read_text())
    record["sources"] |= {"problems": []}
    record["sources"]["agent"]["name"] = "forged"
    file.write_text(json.dumps(record), encoding="utf-8")

    assert States(tmp_path).load(digest, HOME).agent.name == "/home/agent/agent.yaml"


def test_a_link_a_pipe_and_a_folder_are_not_files(tmp_path: Path) -> None:
    digest = States(tmp_path / "true").save(state(0))
    name, states = f"{digest}.json", States(tmp_path / "false")
    place = tmp_path / "false" / name
    place.parent.mkdir()
    makes: list[Callable[[], None]] = [lambda: place.symlink_to(tmp_path / "true" / name), place.mkdir]
    makes += [lambda: os.mkfifo(place)] if hasattr(os, "mkfifo") else []
    for make in makes:
        make()
        with pytest.raises(NoState, match="cannot be read"):
            states.load(digest, HOME)
        place.rmdir() if place.is_dir() and not place.is_symlink() else place.unlink()


@pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
def test_a_state_that_others_can_write_to_is_not_read(tmp_path: Path) -> None:
    digest = States(tmp_path).save(state(0))
    told = "is not used, because others can write to it: take that right from them with `chmod go-w`"
    for place, mode in ((tmp_path / f"{digest}.json", 0o602), (tmp_path, 0o720)):
        place.chmod(mode)
        with pytest.raises(NoState) as caught:
            States(tmp_path).load(digest, HOME)
        assert (caught.value.reason, caught.value.damaged) == (f"is not read: {place} {told}", False)


def test_a_file_that_never_ends_is_not_read_to_its_end(tmp_path: Path) -> None:
    states = States(tmp_path, size=10_000)
    digest = states.save(state(0))
    with (tmp_path / f"{digest}.json").open("ab") as file:
        file.truncate(100_000_000_000)
    with pytest.raises(NoState, match="holds more than 10,000 bytes"):
        states.load(digest, HOME)


FULL = """
import resource, signal, sys
from pathlib import Path
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.reload.states import States

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
states, small = States(sys.argv[1]), AgentSources(SourceText("a", "a", "small"))
digest = states.save(small)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    states.save(AgentSources(SourceText("a", "a", "x" * 5000)))
except OSError as error:
    print(error.strerror)
print(states.load(digest, Path("/")).content() == small.content(), len(list(Path(sys.argv[1]).iterdir())))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no such limit")
def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    done = ended(tmp_path, program=FULL)

    assert (done.stdout, done.returncode) == ("File too large\nTrue 1\n", 0), done.stderr


MANY = """
import sys
from pathlib import Path
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.reload.states import NoState, States

states, found = States(sys.argv[1], most=6), 0
for number in range(15):
    sources = AgentSources(SourceText("a", "a", f"{number % 12} {'x' * 20_000}"))
    digest = states.save(sources)
    try:
        found += states.load(digest, Path("/")).content() == sources.content()
    except NoState as missing:
        assert not missing.damaged, missing
print(found)
"""


def test_many_processes_may_write_at_once(tmp_path: Path) -> None:
    running = [start(tmp_path, program=MANY, pipes="stdout", text=True) for _ in range(4)]
    found = [int(each.communicate()[0]) for each in running]

    assert [each.returncode for each in running] == [0] * 4
    assert min(found) > 0
    assert len(digests(tmp_path)) <= 6 + 4
    assert all(States(tmp_path).load(digest, HOME) for digest in digests(tmp_path))
    assert [file.name for file in tmp_path.iterdir() if file.name.endswith(".unfinished")] == []


def test_a_state_that_somebody_removed_is_written_again(folder: Folder, tmp_path: Path) -> None:
    with watch(folder.root, states=tmp_path / "states", pace=QUICK) as watcher:
        file = tmp_path / "states" / f"{watcher.status.serving}.json"
        file.unlink()
        deadline = time.monotonic() + PATIENCE
        while not file.exists():
            assert time.monotonic() < deadline

            time.sleep(0.01)

        assert States(tmp_path / "states").load(watcher.status.serving, folder.root).content()
