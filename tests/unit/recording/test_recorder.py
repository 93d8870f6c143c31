"""What happened is kept: in the file first, then in the sink, at least once, and never at the price of a prompt."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from typing_extensions import override

from cms_agent import cms
from command_line import run
from cuecard import Engine, InputError, Problem, Recorder, ToolResult, Turn, watch
from cuecard.model import Json
from cuecard.recording import journal
from cuecard.recording.records import read_records
from cuecard.telemetry import Telemetry
from forked import ended, start

Record = dict[str, Any]


def talk(engine: Engine, conversation: str = "", *, turns: int = 1) -> None:
    """Some turns, each of which searches and then creates a page."""
    chat = engine.conversation()
    for number in range(turns):
        chat.user(Turn(conversation=conversation if number == 0 else ""))
        chat.step()
        found = chat.search_tools("create page").to_json()
        chat.step([ToolResult("tool_search", found, f"search-{number}", arguments={"query": "create page"})])
        chat.step([ToolResult("cms_createPage", {"success": True}, f"page-{number}", arguments={"title": "Secret"})])


def lines(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not done() and time.monotonic() < end:
        time.sleep(0.01)
    assert done()


def test_each_request_and_each_call_is_a_line_with_an_id(tmp_path: Path) -> None:
    with Recorder(tmp_path / "r.jsonl") as recorder:
        talk(recorder.instrument(cms()), "c-1", turns=2)

    made = lines(tmp_path / "r.jsonl")
    requests, calls = [each for each in made if "manifest" in each], [each for each in made if "of" in each]
    assert [each["turn"] for each in requests] == [0, 0, 0, 1, 1, 1]
    assert [call["calls"][0]["tool"] for call in calls] == ["tool_search", "cms_createPage"] * 2
    assert [call["of"] for call in calls] == [requests[place]["id"] for place in (0, 1, 3, 4)]
    assert {(each["format"], each["agent"], each["conversation"]) for each in made} == {(1, "cms", "c-1")}
    assert len({each["id"] for each in made}) == len(made)


def test_a_recorded_engine_sends_what_it_always_sent(tmp_path: Path) -> None:
    with Recorder(tmp_path / "r.jsonl") as recorder:
        chats = [engine.conversation() for engine in (cms(), recorder.instrument(cms()))]
        for chat in chats:
            chat.user(Turn())
        results = [ToolResult("tool_search", {"tools": ["cms_createPage"]}, "c1")]
        plain, recorded = (chat.step(results) for chat in chats)

    assert (recorded, recorded.manifest.sha256) == (plain, plain.manifest.sha256)


@pytest.mark.parametrize("agent", ["cms", "mushroom", "pioneer"])
@pytest.mark.parametrize("salt", ["", "secret"])
def test_a_line_holds_the_manifest_as_its_json_byte_for_byte(tmp_path: Path, agent: str, salt: str) -> None:
    path, manifests = tmp_path / "r.jsonl", list[Record]()
    with Recorder(path) as recorder:
        engine = recorder.instrument(Engine.open(f"prompts/{agent}", salt=salt))
        chat, tools = engine.conversation(), [*engine.tools]
        for number in range(3):
            chat.user(Turn())
            found = ToolResult(engine.search_tool, {"tools": tools[number : number + 2]}, f"é-{number}")
            manifests += [chat.step().manifest.to_json(), chat.step([found]).manifest.to_json()]

    written = [line for line in path.read_bytes().splitlines() if b'"manifest":' in line]
    told = [json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in manifests]
    assert len(written) == len(told) == 6
    assert all(text.encode("utf-8", "backslashreplace") in line for text, line in zip(told, written, strict=True))


@pytest.mark.parametrize("texts", [False, True])
def test_texts_arguments_and_results_are_recorded_only_where_asked_for(tmp_path: Path, *, texts: bool) -> None:
    with Recorder(tmp_path / "r.jsonl", texts=texts) as recorder:
        talk(recorder.instrument(cms()))

    written = (tmp_path / "r.jsonl").read_text(encoding="utf-8")
    assert [word in written for word in ("Secret", "create page", "<tool-usage-instructions>")] == [texts] * 3


def test_the_report_reads_what_the_recorder_writes(tmp_path: Path) -> None:
    with Recorder(tmp_path / "r.jsonl") as recorder:
        talk(recorder.instrument(cms()), turns=2)

    told = json.loads(run("tools", "report", str(tmp_path), "--agent", "prompts/cms", "--json").stdout)
    used = {tool["name"]: tool for tool in told["tools"]}["cms_createPage"]
    assert (told["conversations"], told["requests"], used["calls"], used["unread"]) == (1, 6, 2, 0)


def test_a_conversation_keeps_its_id_where_it_is_stored_and_continued(tmp_path: Path) -> None:
    with Recorder(tmp_path / "r.jsonl") as recorder:
        engine = recorder.instrument(cms())
        chat = engine.conversation()
        chat.user(Turn())
        chat.step()
        again = recorder.instrument(cms()).load(engine.dump(chat))
        again.step([ToolResult("cms_listPages", [], "c1")])
        again.user(Turn())
        again.step()

    assert len({each["conversation"] for each in lines(tmp_path / "r.jsonl")}) == 1


def test_a_host_that_keeps_the_history_itself_tells_each_call_once(tmp_path: Path) -> None:
    with Recorder(tmp_path / "r.jsonl") as recorder:
        engine, history = recorder.instrument(cms()), list[ToolResult]()
        call = engine.prepare_call(Turn(conversation="c-1"))
        for number in range(4):
            engine.prepare_step(call, history)
            history.append(ToolResult("cms_listPages", ["home"], f"c{number}" if number % 2 else None))
        engine.prepare_call(Turn(), history, previous=call)

    made = lines(tmp_path / "r.jsonl")
    assert sum("manifest" in each for each in made) == 4
    assert sum("of" in each for each in made) == 4


def test_what_was_prepared_again_has_the_same_id_and_counts_once(tmp_path: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):  # as another replica that is asked after a lost answer
        with Recorder(tmp_path / name) as recorder:
            engine = recorder.instrument(cms())
            call = cms().prepare_call(Turn(conversation="c-1"))
            engine.prepare_step(call)
            engine.prepare_step(call)

    requests, problems = read_records((path.name, path.read_text("utf-8")) for path in sorted(tmp_path.glob("*.jsonl")))
    assert (len(requests), problems) == (1, [])


def test_every_engine_of_a_watcher_is_recorded(tmp_path: Path) -> None:
    with Recorder(tmp_path / "r.jsonl") as recorder, watch("prompts/cms", ready=recorder.instrument) as watcher:
        talk(watcher.current)
        assert recorder.status.written == 5


def test_telemetry_and_records_go_together(tmp_path: Path) -> None:
    for number, telemetry_first in enumerate((True, False)):
        spans, providers = InMemorySpanExporter(), TracerProvider()
        providers.add_span_processor(SimpleSpanProcessor(spans))
        with Recorder(tmp_path / f"{number}.jsonl") as recorder:
            both = [Telemetry(tracer_provider=providers).instrument, recorder.instrument]
            engine = cms()
            for instrument in both if telemetry_first else reversed(both):
                engine = instrument(engine)
            talk(engine)
        assert recorder.status.written == 5
        assert [span.name for span in spans.get_finished_spans()].count("cuecard.prepare_step") == 3


def test_the_sink_gets_every_record_in_order(tmp_path: Path) -> None:
    got: list[Record] = []
    with Recorder(tmp_path / "r.jsonl", sink=got.append) as recorder:
        talk(recorder.instrument(cms()), turns=3)
        recorder.summary("cms", "c-1", "They made pages.")

    assert got == lines(tmp_path / "r.jsonl")
    assert got[-1]["summary"]["text"] == "They made pages."


def test_what_the_sink_has_taken_does_not_come_again_after_a_restart(tmp_path: Path) -> None:
    got: list[str] = []
    for _ in range(3):
        with Recorder(tmp_path / "r.jsonl", sink=lambda record: got.append(record["id"])) as recorder:
            talk(recorder.instrument(cms()))

    assert len(got) == len(set(got)) == 15


@pytest.mark.parametrize("raised", [ConnectionError, SystemExit, asyncio.CancelledError])
def test_a_sink_that_raises_gets_the_same_record_again(tmp_path: Path, raised: type[BaseException]) -> None:
    told: list[Problem] = []
    asked: list[str] = []

    def sink(record: Record) -> None:
        asked.append(record["id"])
        if len(asked) < 3:
            raise raised("the database is away")

    with Recorder(tmp_path / "r.jsonl", sink=sink, on_problem=told.append) as recorder:
        talk(recorder.instrument(cms()))
        until(lambda: recorder.status.delivered == 5)

    assert [problem.code for problem in told] == ["sink-failed"]
    assert "the database is away" in told[0].message
    assert asked[0] == asked[1] == asked[2]
    assert len(set(asked)) == 5


def test_a_sink_that_hangs_holds_up_nobody_and_is_told_of_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "SLOW", 0.05)
    told: list[Problem] = []
    answer, asked = threading.Event(), threading.Event()

    def sink(_: Record) -> None:
        asked.set()
        answer.wait(20)

    recorder = Recorder(tmp_path / "r.jsonl", sink=sink, on_problem=told.append)
    engine = recorder.instrument(cms())
    talk(engine)
    assert asked.wait(20)
    time.sleep(0.1)
    talk(engine, turns=2)
    recorder.close(0.05)
    assert len(lines(tmp_path / "r.jsonl")) == 15
    assert ["not returned" in told[0].message, "not taken every record" in told[1].message] == [True, True]
    assert len(told) == 2

    answer.set()  # it answers after the end
    got: list[Record] = []
    until(lambda: not any(thread.name == "cuecard-records" for thread in threading.enumerate()))
    with Recorder(tmp_path / "r.jsonl", sink=got.append):
        pass
    assert {each["id"] for each in got} >= {each["id"] for each in lines(tmp_path / "r.jsonl")[1:]}


def test_a_function_that_nobody_awaits_takes_no_record_and_is_told_of_no_problem(tmp_path: Path) -> None:
    async def wanted(_: object) -> None: ...

    with pytest.raises(InputError) as caught:
        Recorder(tmp_path / "r.jsonl", sink=wanted, on_problem=wanted)
    assert [problem.name for problem in caught.value.problems] == ["sink", "on_problem"]


def test_a_place_that_cannot_be_kept_is_told_and_the_records_wait(tmp_path: Path) -> None:
    told, got = list[Problem](), list[Record]()
    (tmp_path / "r.jsonl.sent").mkdir()
    with Recorder(tmp_path / "r.jsonl", sink=got.append, on_problem=told.append) as recorder:
        talk(recorder.instrument(cms()))
        until(lambda: bool(told))
        assert (told[0].code, "cannot be kept" in told[0].message) == ("sink-failed", True)

        (tmp_path / "r.jsonl.sent").rmdir()
        until(lambda: len(got) == 5)
    assert len(told) == 1


def test_a_file_that_cannot_be_read_for_a_moment_is_delivered_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, got, usual = tmp_path / "r.jsonl", list[Record](), Path.open
    failures = [OSError(24, "too many open files")] * 2

    def opened(self: Path, *arguments: Any, **named: Any) -> Any:
        if self == path and failures:
            raise failures.pop()
        return usual(self, *arguments, **named)

    monkeypatch.setattr(Path, "open", opened)
    with Recorder(path, sink=got.append) as recorder:
        talk(recorder.instrument(cms()))
        until(lambda: len(got) == 5)
    assert not failures


def test_a_disk_that_keeps_nothing_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: int) -> None:
        raise OSError(5, "Input/output error")

    told: list[Problem] = []
    monkeypatch.setattr(os, "fsync", fails)
    with Recorder(tmp_path / "r.jsonl", on_problem=told.append) as recorder:
        talk(recorder.instrument(cms()))
        until(lambda: bool(told))
        talk(recorder.instrument(cms()))
    assert [(each.code, "input/output error" in each.message) for each in told] == [("records-lost", True)]


def test_a_line_that_is_written_as_others_are_brought_to_disk_gets_there_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced, recorders = tmp_path / "r.jsonl", list[int](), [SimpleQueue[Recorder]()]

    class Event(threading.Event):
        @override
        def clear(self) -> None:
            if recorders:  # in the thread that brings lines to disk, just before it forgets that there were any
                recorders.pop().get().summary("cms", "c-1", "They made pages.")
            super().clear()

    waiting = recorders[0]
    monkeypatch.setattr(threading, "Event", Event)
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    with Recorder(path) as recorder:
        waiting.put(recorder)
        until(lambda: bool(synced))
        assert synced[-1] == path.stat().st_size > 0


def test_what_comes_after_the_end_is_lost_and_told(tmp_path: Path) -> None:
    told: list[Problem] = []
    with Recorder(tmp_path / "r.jsonl", on_problem=told.append) as recorder:
        engine = recorder.instrument(cms())
    talk(engine)

    assert (recorder.status.written, recorder.status.lost) == (0, 5)
    assert ["its recorder has ended" in each.message for each in told] == [True]


def test_a_sink_may_end_its_recorder(tmp_path: Path) -> None:
    path, told, got = tmp_path / "r.jsonl", list[Problem](), list[str]()

    def sink(record: Record) -> None:
        got.append(record["id"])
        recorder.close()

    recorder = Recorder(path, sink=sink, on_problem=told.append)
    recorder.summary("cms", "c-1", "They made pages.")
    until(lambda: not any(thread.name == "cuecard-records" for thread in threading.enumerate()))
    with Recorder(path, sink=lambda record: got.append(record["id"])):
        pass
    assert (told, len(got)) == ([], 1)


LEFT_BEHIND = """
import os, sys, time
from pathlib import Path
from cuecard import Engine, Recorder, Turn
path = Path(sys.argv[1])
got = path.with_name("got")
recorder = Recorder(path, sink=lambda record: got.open("a").write(record["conversation"] + chr(10)))
chat = recorder.instrument(Engine.open("prompts/cms", cache=False)).conversation()
if os.fork():
    os._exit(0)  # as whoever becomes a service does
chat.user(Turn(conversation="child"))
chat.step()
recorder.close()
print(recorder.status.written, recorder.status.delivered, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_a_forked_child_delivers_once_its_parent_has_ended(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEFT_BEHIND, str(tmp_path / "r.jsonl")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["1", "1"]
    assert (tmp_path / "got").read_text("utf-8") == "child\n"


ENDED_BEFORE = """
import os, sys
from cuecard import Recorder
recorder = Recorder(sys.argv[1], on_problem=lambda problem: print(problem.message, flush=True))
recorder.close()
others = [os.open(f"{sys.argv[1]}.{number}", os.O_RDWR | os.O_CREAT) for number in range(4)]
if not os.fork():
    recorder.summary("cms", "c-1", "They made pages.")
    os._exit(0)
os.wait()
print(sum(os.fstat(other).st_size for other in others))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_a_recorder_that_has_ended_writes_into_no_file_of_a_child(tmp_path: Path) -> None:
    done = ended(tmp_path / "r.jsonl", program=ENDED_BEFORE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["a record cannot be written: its recorder has ended", "0"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")  # noqa: PTH110 - a device
def test_a_full_disk_is_told_once_and_what_was_lost_is_counted() -> None:
    told: list[Problem] = []
    with Recorder("/dev/full", on_problem=told.append) as recorder:
        talk(recorder.instrument(cms()))

    assert (recorder.status.written, recorder.status.lost) == (0, 5)
    assert [(each.code, "5 records" in each.message) for each in told] == [
        ("records-lost", False),
        ("records-lost", True),
    ]


def test_what_no_json_can_hold_is_counted_and_the_prompt_goes_out(tmp_path: Path) -> None:
    circle: list[Json] = []
    circle.append(circle)
    with Recorder(tmp_path / "r.jsonl", texts=True, on_problem=lambda _: None) as recorder:
        engine = recorder.instrument(cms())
        call = engine.prepare_call(Turn())
        engine.prepare_step(call, [ToolResult("cms_listPages", "no", "c1", arguments=circle)])

    assert (recorder.status.written, recorder.status.lost) == (1, 1)


def test_a_line_that_was_cut_off_is_recognised_and_costs_only_itself(tmp_path: Path) -> None:
    path, got = tmp_path / "r.jsonl", list[Record]()
    with Recorder(path) as recorder:
        talk(recorder.instrument(cms()))
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    with Recorder(path, sink=got.append) as recorder:
        talk(recorder.instrument(cms()))

    requests, problems = read_records([("r.jsonl", path.read_text("utf-8"))])
    assert [(each.code, "cut off" in each.message, each.name) for each in problems] == [
        ("bad-record", True, "r.jsonl:5")
    ]
    assert len(requests) == 5
    assert len(got) == 9


def test_a_record_of_a_later_format_and_one_of_another_agent_are_named_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with Recorder(path) as recorder:
        talk(recorder.instrument(cms()))
    first = lines(path)[0]
    later = {**first, "format": 2, "id": "x"}, {**first, "manifest": {**first["manifest"], "format": 2}, "id": "y"}
    texts = [("r.jsonl", path.read_text("utf-8") + "\n".join(map(json.dumps, later)))]

    requests, problems = read_records(texts, "cms")
    assert (len(requests), ["format 2" in each.message for each in problems]) == (3, [True, True])
    assert [each.hint for each in problems] == ["update cuecard"] * 2
    requests, problems = read_records(texts, "mushroom")
    assert requests == []
    assert "of the agent `cms`, not of `mushroom`" in problems[-1].message


def test_a_file_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        Recorder(tmp_path / "file" / "r.jsonl")


KILLED = """
import sys
from cuecard import Engine, Recorder, Turn
recorder = Recorder(sys.argv[1])
engine = recorder.instrument(Engine.open("prompts/cms"))
for number in range(10_000):
    if number == 20:
        print("begun", flush=True)
    chat = engine.conversation()
    chat.user(Turn())
    chat.step()
"""


def test_after_kill_9_every_line_is_whole_or_the_last_and_the_sink_gets_it(tmp_path: Path) -> None:
    path, got = tmp_path / "r.jsonl", list[str]()
    for _ in range(3):
        process = start(path, program=KILLED, pipes="stdout")
        assert process.stdout
        process.stdout.readline()
        time.sleep(0.2)
        process.kill()
        process.communicate()
    with Recorder(path, sink=lambda record: got.append(record["id"])):
        pass
    *whole, _ = path.read_text("utf-8").splitlines()

    damaged = [line for line in whole if not line.endswith("}")]
    assert len(damaged) <= 2
    assert {json.loads(line)["id"] for line in whole if line not in damaged} <= set(got)
    assert len(got) == len(set(got))


LIMITED = """
import resource, sys
from cuecard import Engine, Recorder, Turn
told = []
recorder = Recorder(sys.argv[1], on_problem=told.append)
engine = recorder.instrument(Engine.open("prompts/cms", cache=False))
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
chat, prompts = engine.conversation(), []
for number in range(8):
    chat.user(Turn())
    prompts.append(len(chat.step().system))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
chat.user(Turn())
chat.step()
recorder.close()
print(recorder.status.written, recorder.status.lost, min(prompts), *[each.code for each in told])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a limit of POSIX systems")
def test_a_file_that_may_not_grow_costs_only_the_records_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    done = ended(path, program=LIMITED)
    assert done.returncode == 0, done.stderr
    written, lost, shortest, *codes = done.stdout.split()
    requests, problems = read_records([("r.jsonl", path.read_text("utf-8"))])

    assert int(shortest) > 0
    assert int(lost) > 1
    assert codes == ["records-lost", "records-lost"]
    assert len(requests) == int(written)  # also what was written once there was room again
    assert ["cut off" in each.message for each in problems] == [True]


HANGING = """
import sys, threading
from cuecard import Engine, Recorder, Turn
asked = threading.Event()
def sink(record):
    asked.set()
    threading.Event().wait()
recorder = Recorder(sys.argv[1], sink=sink)
chat = recorder.instrument(Engine.open("prompts/cms", cache=False)).conversation()
chat.user(Turn())
chat.step()
assert asked.wait(20)
"""


def test_a_process_ends_although_its_sink_hangs_and_the_next_one_delivers(tmp_path: Path) -> None:
    path, got = tmp_path / "r.jsonl", list[str]()
    done = subprocess.run(
        [sys.executable, "-c", HANGING, str(path)], capture_output=True, text=True, check=True, timeout=60
    )
    with Recorder(path, sink=lambda record: got.append(record["id"])):
        pass

    assert done.stderr.count("the sink has not taken every record within 5 seconds of the end") == 1
    assert got == [each["id"] for each in lines(path)]
    assert len(got) == 1
