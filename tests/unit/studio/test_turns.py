"""Turns are records that only their user reads; turn files are read and saved, and nothing is lost on the way."""

import os
import shutil
import stat
import threading
from codecs import BOM_UTF8
from pathlib import Path

import pytest

from cuecard.errors import InputError, SpecError
from cuecard.studio import turns
from cuecard.studio.turns import TurnRecord, TurnStore, open_turn, save_turn, turn_files

PRIVATE = "Jana is allergic to nuts"
TURN = TurnRecord({"inputs": {"memory_long_term": PRIVATE}, "message": "Hello"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".cuecard" / "studio" / "turns"


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    shutil.copytree("prompts/mistermorph", tmp_path / "mistermorph")
    return tmp_path / "mistermorph"


def test_a_record_is_found_again_by_its_digest_also_by_another_studio(folder: Path) -> None:
    digest = TurnStore(folder).keep(TURN)
    assert TurnStore(folder).read(digest) == TURN
    assert PRIVATE not in digest
    assert TurnStore(folder).keep(TURN) == digest


def test_a_record_is_for_its_user_alone(folder: Path) -> None:
    old = os.umask(0)
    try:
        digest = TurnStore(folder).keep(TURN)
    finally:
        os.umask(old)
    assert stat.S_IMODE((folder / f"{digest}.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [each.name for each in folder.iterdir()] == [f"{digest}.json"]


@pytest.mark.parametrize("digest", ["", "0" * 32, "../" * 8 + "etc/passw", "x" * 32, "A" * 32])
def test_a_digest_that_nobody_has_made_is_said_to_be_one(folder: Path, digest: str) -> None:
    with pytest.raises(InputError, match="fill in the form anew"):
        TurnStore(folder).read(digest)


def test_a_record_that_somebody_changed_is_not_believed(folder: Path) -> None:
    digest = TurnStore(folder).keep(TURN)
    place = folder / f"{digest}.json"
    place.write_text(place.read_text().replace("nuts", "rain"))
    with pytest.raises(InputError, match="changed by somebody else"):
        TurnStore(folder).read(digest)


def test_a_link_in_the_place_of_a_record_is_not_followed(folder: Path, tmp_path: Path) -> None:
    digest = TurnStore(folder).keep(TURN)
    place = folder / f"{digest}.json"
    place.rename(tmp_path / "elsewhere.json")
    place.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(InputError, match="no longer kept"):
        TurnStore(folder).read(digest)


def test_a_folder_that_others_can_write_to_is_not_used_and_nothing_is_lost(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    store = TurnStore(folder)
    digest = store.keep(TURN)
    assert store.read(digest) == TURN
    assert "chmod go-w" in store.told
    assert not [*folder.iterdir()]


def test_where_nothing_can_be_written_the_record_stays_while_the_studio_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = TurnStore(tmp_path / "file" / "turns")
    assert store.read(store.keep(TURN)) == TURN
    assert "cannot be written" in store.told


def test_the_oldest_records_leave(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MAX_TURNS", 3)
    store = TurnStore(folder)
    made = []
    for number in range(5):
        made.append(store.keep(TurnRecord({"message": str(number)})))
        os.utime(folder / f"{made[-1]}.json", ns=(number, number))
    assert [store.read(each).turn["message"] for each in made[2:]] == ["2", "3", "4"]
    with pytest.raises(InputError, match="no longer kept"):
        store.read(made[0])


def test_a_turn_that_is_too_large_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="at most 1,048,576"):
        TurnStore(folder).keep(TurnRecord({"message": "x" * turns.MAX_TURN}))


def test_many_windows_write_at_the_same_time(folder: Path) -> None:
    store, failed = TurnStore(folder), []

    def write(number: int) -> None:
        for at in range(20):
            record = TurnRecord({"message": f"{number % 2} {at}"})
            if store.read(store.keep(record)) != record:
                failed.append(record)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failed
    assert not store.told
    assert len([*folder.iterdir()]) == 40


def test_the_turn_files_of_an_agent_are_listed_and_opened(agent: Path) -> None:
    assert "memory-private.yaml" in turn_files(agent)
    record, of = open_turn(agent, "memory-private.yaml")
    assert of == 1
    assert record.file == "memory-private.yaml"
    assert record.read().inputs["channel"] == "telegram"
    assert turn_files(agent / "texts") == ()


def test_a_turn_of_several_brings_the_messages_of_those_before_it(agent: Path) -> None:
    (agent / "turns" / "two.yaml").write_text("turns:\n  - message: One\n  - message: Two\n")
    record, of = open_turn(agent, "two.yaml", 2)
    assert of == 2
    assert record.file == ""
    assert record.told == "turn 2 of 2 in two.yaml"
    assert record.turn == {"message": "Two", "messages": [{"role": "user", "content": "One"}]}
    with pytest.raises(InputError, match="it has 2"):
        open_turn(agent, "two.yaml", 3)


@pytest.mark.parametrize(
    "name", ["../agent.yaml", "/etc/passwd", "a/b.yaml", ".hidden.yaml", "x.txt", "..\\x.yaml", ""]
)
def test_no_name_leads_out_of_the_folder(agent: Path, name: str) -> None:
    for act in (lambda: open_turn(agent, name), lambda: save_turn(agent, name, TURN)):
        with pytest.raises(InputError, match="plain name"):
            act()


def test_links_out_of_the_folder_are_neither_read_nor_written(agent: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text("message: theirs\n")
    (agent / "turns" / "link.yaml").symlink_to(outside)
    with pytest.raises(SpecError):
        open_turn(agent, "link.yaml")
    with pytest.raises(InputError, match="it stays"):
        save_turn(agent, "link.yaml", TURN)
    (agent / "turns").rename(tmp_path / "turns")
    (agent / "turns").symlink_to(tmp_path / "turns")
    with pytest.raises(InputError, match="leads out"):
        save_turn(agent, "new.yaml", TURN)
    assert outside.read_text() == "message: theirs\n"


def test_a_saved_turn_keeps_its_comments_its_line_ends_and_its_byte_order_mark(agent: Path) -> None:
    path = agent / "turns" / "memory-private.yaml"
    path.write_bytes(BOM_UTF8 + path.read_bytes().replace(b"\n", b"\r\n"))
    record, _ = open_turn(agent, path.name)
    held = {**record.turn, "inputs": {**record.turn["inputs"], "channel": "slack"}}
    saved = save_turn(agent, path.name, TurnRecord(held, record.file, record.sha256))
    lines = path.read_bytes().split(b"\r\n")
    assert lines[0].startswith(BOM_UTF8)
    assert lines[1].startswith(b"# A private conversation")
    assert b"  channel: slack" in lines
    again = save_turn(agent, path.name, TurnRecord({**held, "message": "And now?"}, path.name, saved.sha256))
    assert open_turn(agent, path.name)[0] == again


def test_a_file_that_changed_meanwhile_stays(agent: Path) -> None:
    path = agent / "turns" / "memory-private.yaml"
    record, _ = open_turn(agent, path.name)
    path.write_text(path.read_text() + "# mine\n")
    with pytest.raises(InputError, match="it stays as it is"):
        save_turn(agent, path.name, TurnRecord({"message": "x"}, record.file, record.sha256))
    assert path.read_text().endswith("# mine\n")


def test_a_new_file_is_written_over_nothing(agent: Path) -> None:
    save_turn(agent, "new.yaml", TURN)
    assert open_turn(agent, "new.yaml")[0].turn == TURN.turn
    with pytest.raises(InputError, match="it stays"):
        save_turn(agent, "new.yaml", TurnRecord({"message": "other"}))
    assert open_turn(agent, "new.yaml")[0].turn == TURN.turn


def test_what_is_no_turn_is_not_written(agent: Path) -> None:
    with pytest.raises(SpecError, match="ISO 8601"):
        save_turn(agent, "wrong.yaml", TurnRecord({"now": "yesterday"}))
    assert not (agent / "turns" / "wrong.yaml").exists()


def test_another_kind_of_file_is_said_to_be_one(agent: Path) -> None:
    shutil.copy(agent / "agent.yaml", agent / "turns" / "agent.yaml")
    with pytest.raises(SpecError, match="an agent file"):
        open_turn(agent, "agent.yaml")
