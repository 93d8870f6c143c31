"""Conversations are read as they grow; whatever cannot be read is told in one line, and the rest is shown."""

import gc
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine, Recorder, ToolResult, Turn
from cuecard.model import Manifest
from cuecard.studio import record_files
from cuecard.studio.runs import Runs, places_near, samples
from unit.studio.timelines import CMS, MODEL, RECORDING, lines, recorded, write_lines


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.open(CMS)


def only(runs: Runs, engine: Engine) -> Any:
    (summary,) = runs.listed(engine)
    run = runs.run(summary.id, engine, engine.models.find(MODEL))
    assert run
    return run


def test_records_and_recordings_of_a_folder_are_found_newest_first(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "records").mkdir()
    recorded(tmp_path / "records" / "host.jsonl")
    (tmp_path / "older.json").write_bytes(RECORDING.read_bytes())
    os.utime(tmp_path / "older.json", (1, 1))
    found = Runs([tmp_path]).listed(engine)
    assert [each.title for each in found] == ["c-1 · append", "older · append", "older · rewrite", "older · frozen"]
    assert (found[0].turns, found[0].requests) == (1, 3)


def test_the_calls_of_a_record_stand_at_their_request(tmp_path: Path, engine: Engine) -> None:
    recorded(tmp_path / "r.jsonl", steps=4)
    run = only(Runs([tmp_path]), engine)
    assert [step.calls for step in run.steps] == [("cms_listPosts",), ("tool_search",), ("cms_listPosts",), ()]
    assert run.steps[1].called[0].found[0] == "cms_createPage"
    assert "cms_createPage" in run.steps[2].came


def test_messages_after_a_compaction_are_turns_of_their_own(tmp_path: Path, engine: Engine) -> None:
    with Recorder(tmp_path / "long.jsonl") as recorder:
        chat = recorder.instrument(engine).conversation()
        for number in range(5):
            if number in {2, 4}:
                chat.compacted(kept=2 - number // 2)  # the numbers of messages begin anew, once with the same one
            chat.user(Turn(conversation="long"))
            chat.step()
            chat.step([ToolResult("acknowledge", "ok", f"call-{number}")])
    runs = Runs([tmp_path])
    assert [step.place for step in only(runs, engine).steps] == [f"{turn}.{n}" for turn in range(1, 6) for n in (1, 2)]
    assert runs.listed(engine)[0].turns == 5


def test_texts_are_shown_where_the_host_recorded_them(tmp_path: Path, engine: Engine) -> None:
    recorded(tmp_path / "with.jsonl", texts=True)
    recorded(tmp_path / "without.jsonl")
    with_texts = only(Runs([tmp_path / "with.jsonl"]), engine).steps[-1]
    assert "<identity>" in with_texts.texts["identity"]
    assert any("cms_createPage" in text for text in with_texts.texts.values())
    assert only(Runs([tmp_path / "without.jsonl"]), engine).steps[-1].texts == {}


def test_a_growing_file_is_read_on(tmp_path: Path, engine: Engine) -> None:
    runs = Runs([tmp_path])
    assert runs.listed(engine) == ()
    with Recorder(tmp_path / "live.jsonl") as recorder:
        chat = recorder.instrument(engine).conversation()
        chat.user(Turn(conversation="live"))
        for expected in (1, 2, 3):
            chat.user(Turn(conversation="live"))
            chat.step()
            assert list(runs.look().values()) == [expected]
            assert runs.look() == {}
            assert len(only(runs, engine).steps) == expected
    assert only(runs, engine).live


def test_a_line_that_is_being_written_waits(tmp_path: Path, engine: Engine) -> None:
    recorded(tmp_path / "r.jsonl", steps=2)
    whole = (tmp_path / "r.jsonl").read_bytes()
    first = whole.index(b"\n") + 1
    (tmp_path / "r.jsonl").write_bytes(whole[: first + 200])
    runs = Runs([tmp_path])
    assert len(only(runs, engine).steps) == 1
    (told,) = runs.problems(engine)
    assert "r.jsonl: the last line is cut off, or still being written" in told
    (tmp_path / "r.jsonl").write_bytes(whole)
    runs.look()
    assert len(only(runs, engine).steps) == 2
    assert runs.problems(engine) == ()


def test_what_cannot_be_read_is_told_in_one_line_each(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, steps=3)
    records = lines(path)
    later = [{**records[0], "format": 2, "id": f"later-{number}"} for number in range(30)]
    write_lines(path, [*records, *later, {**records[0], "id": "x", "calls": 3}])
    path.write_text(path.read_text(encoding="utf-8") + '{"format": 1, "conversation": "c-1", "mani\n' + "[1]\n" * 3)
    runs = Runs([path])
    run = only(runs, engine)
    told = runs.problems(engine)
    assert len(run.steps) == 3
    assert any("30 lines of format 2 left out; this version of cuecard reads up to 1" in line for line in told)
    assert any("the line is cut off" in line and "(and 3 lines more)" in line for line in told)
    assert len(told) == 2
    assert len(run.problems) == 1


def test_conversations_of_other_agents_are_told_in_one_line(tmp_path: Path, engine: Engine) -> None:
    recorded(tmp_path / "r.jsonl")
    (tmp_path / "recording.json").write_bytes(RECORDING.read_bytes())
    other = Engine.open("prompts/mistermorph")
    runs = Runs([tmp_path])
    assert runs.listed(other) == ()
    records, recording = runs.problems(other)
    assert "1 conversation of the agent `cms`, not of `mistermorph`" in records
    assert "recording.json: a recording whose tools `mistermorph` does not have" in recording


def test_a_record_that_comes_again_counts_once(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, steps=3)
    write_lines(path, [*lines(path), *lines(path)])
    run = only(Runs([path]), engine)
    assert [step.place for step in run.steps] == ["1.1", "1.2", "1.3"]
    assert [step.calls for step in run.steps] == [("cms_listPosts",), ("tool_search",), ()]


def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, steps=5, conversation="first")
    runs = Runs([path])
    only(runs, engine)
    path.unlink()
    recorded(path, steps=2, conversation="second")
    runs.look()
    assert [(each.name, each.requests) for each in runs.listed(engine)] == [("second", 2)]
    records = lines(path)
    write_lines(path, records[:1])  # shorter, in the same file
    runs.look()
    assert len(only(runs, engine).steps) == 1


def test_a_file_or_folder_that_is_gone_is_told_and_the_rest_is_shown(tmp_path: Path, engine: Engine) -> None:
    recorded(tmp_path / "r.jsonl")
    runs = Runs([tmp_path / "r.jsonl", tmp_path / "nothing"])
    assert len(runs.listed(engine)) == 1
    assert any("nothing: there is nothing" in line for line in runs.problems(engine))
    (tmp_path / "r.jsonl").unlink()
    runs.look()
    assert runs.listed(engine) == ()


def test_a_file_that_holds_no_conversation_says_so(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "other.json").write_text('{"a": 1}')
    (tmp_path / "broken.json").write_text("{")
    runs = Runs([tmp_path])
    assert runs.listed(engine) == ()
    assert len(runs.problems(engine)) == 2


def test_the_single_manifests_of_a_run_are_not_shown_beside_its_records(tmp_path: Path, engine: Engine) -> None:
    recorded(tmp_path / "records.jsonl")
    (tmp_path / "01-c-1-t1-s1.json").write_text(json.dumps(lines(tmp_path / "records.jsonl")[0]["manifest"]))
    runs = Runs([tmp_path])
    assert len(runs.listed(engine)) == 1
    assert runs.problems(engine) == ()


def test_of_a_long_conversation_the_last_requests_are_held(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_files, "MAX_STEPS", 20)
    recorded(tmp_path / "r.jsonl", steps=50)
    run = only(Runs([tmp_path]), engine)
    assert (len(run.steps), run.earlier, run.steps[-1].place) == (20, 30, "10.5")
    assert run.steps[0].manifest.configuration.agent == "cms"


def test_no_manifest_is_held_for_steps_that_nobody_looks_at(tmp_path: Path, engine: Engine) -> None:
    recorded(tmp_path / "r.jsonl", steps=60, texts=True)
    gc.collect()
    before = sum(isinstance(each, Manifest) for each in gc.get_objects())
    runs = Runs([tmp_path])
    run = only(runs, engine)
    gc.collect()
    assert len(run.steps) == 60
    assert sum(isinstance(each, Manifest) for each in gc.get_objects()) - before <= 1


def test_followers_are_told_of_steps_and_of_new_files(tmp_path: Path, engine: Engine) -> None:
    recorded(tmp_path / "r.jsonl", steps=2)
    runs, told, over = Runs([tmp_path]), list[tuple[str, Any]](), threading.Event()
    heard = threading.Event()

    def tell(kind: str, facts: Any) -> None:
        told.append((kind, dict(facts)))
        if kind == "runs":
            heard.set()

    only(runs, engine)
    work = threading.Thread(target=runs.follow, args=(tell, over))
    work.start()
    recorded(tmp_path / "second.jsonl", steps=1, conversation="c-2")
    assert heard.wait(30)
    over.set()
    work.join()
    assert any(kind == "steps" and facts["steps"] == 1 for kind, facts in told)


def test_conversations_near_an_agent_are_found_without_being_named(tmp_path: Path, engine: Engine) -> None:
    near = places_near({"a": tmp_path / "a" / "agent.yaml"})
    runs = Runs([], near=near)
    assert not runs.listed(engine)
    assert not runs.problems(engine)

    recorded(tmp_path / "a" / "records" / "r.jsonl")  # the folder comes into being later
    runs.look()
    assert [each.name for each in runs.listed(engine)] == ["c-1"]


def test_a_conversation_that_cuecard_brings_is_played_where_the_agent_has_its_tools(
    tmp_path: Path, engine: Engine
) -> None:
    runs = Runs([tmp_path], samples=samples())
    assert not runs.listed(engine)
    sample, *_ = runs.samples(engine)

    run = runs.run(sample.id, engine, engine.models.find("claude-opus-5"))
    assert run
    assert run.name == "blog-post"
    assert runs.under(run, "rewrite", engine, engine.models.find("claude-opus-5"))
    assert not runs.samples(Engine.open("prompts/mistermorph"))


def test_names_cannot_turn_the_text_around_them(tmp_path: Path, engine: Engine) -> None:
    recorded(tmp_path / "r.jsonl", conversation="a\u202eb")
    runs = Runs([tmp_path])
    assert "\u202e" not in runs.listed(engine)[0].title
    assert "\u202e" not in only(runs, engine).name
