"""Spans and metrics, read back with OpenTelemetry's own exporters."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.schemas import Schemas

import cms_agent
from cuecard import Call, Engine, Entity, InputError, Library, Memory, Pins, ToolCard, ToolResult, Turn, watch
from cuecard import compare_manifests as compare
from cuecard.telemetry import Telemetry

ROOT = Path(__file__).parents[3]
NOW = datetime(2026, 11, 22, tzinfo=UTC)
SECRET = "Zebra Holdings"  # noqa: S105 - what no span may tell


class Seen:
    """Telemetry with everything that it recorded."""

    def __init__(self, **more: Any) -> None:
        self._spans, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        meters = MeterProvider([self._reader])
        self.telemetry = Telemetry(tracer_provider=tracers, meter_provider=meters, **more)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._spans.get_finished_spans())

    def named(self, name: str) -> list[Mapping[str, Any]]:
        return [dict(span.attributes or {}) for span in self.spans if span.name == f"cuecard.{name}"]

    @property
    def metrics(self) -> dict[str, list[Any]]:
        data = self._reader.get_metrics_data()
        found = [m for r in (data.resource_metrics if data else ()) for s in r.scope_metrics for m in s.metrics]
        return {metric.name: list(metric.data.data_points) for metric in found}

    def total(self, name: str) -> int:
        return sum(point.value for point in self.metrics.get(name, ()))


@pytest.fixture
def seen() -> Seen:
    return Seen()


def cms(**more: Any) -> Engine:
    return replace(cms_agent.cms(), clock=lambda: NOW, **more)


def search(engine: Engine, query: str, call_id: str, call: Call | None = None) -> ToolResult:
    return ToolResult("tool_search", engine.search_tools(query, call=call).to_json(), call_id)


def played(engine: Engine) -> None:
    """Two messages of several steps."""
    chat = engine.conversation()
    chat.remember([Entity("page", "p-1", SECRET)])
    call = chat.user(Turn(model="claude-opus-4-8", query=SECRET))
    chat.step()
    chat.step([search(engine, f"create a page for {SECRET}", "c-1", call)])
    chat.step([ToolResult("cms_createPage", {"success": True, "page": {"id": "p-2", "title": f"{SECRET} 2"}}, "c-2")])
    chat.user(Turn(model="claude-opus-4-8"))
    chat.step()


def test_calls_steps_and_searches_are_spans_that_name_the_prompt(seen: Seen) -> None:
    engine = seen.telemetry.instrument(cms())
    played(engine)

    assert [span.name.removeprefix("cuecard.") for span in seen.spans] == [
        *("prepare_call", "prepare_step", "search_tools", "prepare_step", "prepare_step"),
        *("prepare_call", "prepare_step"),
    ]
    for span in [*seen.named("prepare_call"), *seen.named("prepare_step")]:
        assert span["gen_ai.prompt.name"] == span["langfuse.observation.prompt.name"] == "cms"
        assert span["gen_ai.agent.name"] == "cms"
        assert span["gen_ai.prompt.version"] == span["langfuse.version"] == engine.sha256[:12]
        assert span["gen_ai.request.model"] == "claude-opus-4-8"
        assert "langfuse.observation.prompt.version" not in span
    assert [span["cuecard.turn"] for span in seen.named("prepare_call")] == [0, 1]
    assert "cms_createPage" in seen.named("search_tools")[0]["cuecard.search.tools"]


def test_a_step_tells_each_section_with_its_fingerprint_and_its_tokens(seen: Seen) -> None:
    engine = seen.telemetry.instrument(cms())
    chat = engine.conversation()
    chat.user(Turn())
    manifest = chat.step([search(engine, "create a page", "c-1")]).manifest
    (span,) = seen.named("prepare_step")

    assert list(span["cuecard.section.ids"]) == [section.id for section in manifest.sections]
    assert list(span["cuecard.section.sha256"]) == [section.sha256 for section in manifest.sections]
    assert sum(span["cuecard.section.tokens"]) == span["cuecard.tokens"] == manifest.total_tokens
    assert span["cuecard.tokens.system"] + span["cuecard.tokens.appended"] == manifest.total_tokens
    assert span["cuecard.manifest.sha256"] == manifest.sha256
    assert seen.metrics["cuecard.prompt.tokens"][0].sum == manifest.total_tokens


def test_no_text_is_revealed(seen: Seen) -> None:
    engine = seen.telemetry.instrument(cms())
    played(engine)
    with pytest.raises(InputError):
        engine.prepare_call(Turn(inputs={SECRET: SECRET}))
    told = json.dumps([span.to_json() for span in seen.spans])
    told += "".join(str(point) for points in seen.metrics.values() for point in points)

    assert SECRET not in told
    assert "BEFORE: " not in told
    assert engine.agent.sections
    assert not any(
        line in told
        for line in engine.conversation().user(Turn()).prompt.segments[0].text.splitlines()
        if len(line) > 30
    )


def test_engines_and_conversations_give_the_same_as_without(seen: Seen) -> None:
    plain, engine = cms(), seen.telemetry.instrument(cms())
    turn, results = Turn(now=NOW), [search(plain, "create a page", "c-1")]
    one, other = plain.prepare_call(turn), engine.prepare_call(turn)

    assert isinstance(engine, Engine)
    assert one == other
    assert plain.prepare_step(one, results) == engine.prepare_step(other, results)
    assert plain.prepare_step(one, results).manifest == engine.prepare_step(other, results).manifest
    assert engine.load(engine.dump(engine.conversation())).state == plain.conversation().state
    assert asyncio.run(engine.asearch_tools("create a page", ranker=_ranker)).tools == ("cms_createPage",)
    assert len(seen.named("search_tools")) == 1


async def _ranker(query: str, limit: int) -> list[tuple[str, float]]:
    return [("cms_createPage", 1.0)]


def test_an_engine_that_knows_more_tools_is_still_recorded(seen: Seen) -> None:
    engine = seen.telemetry.instrument(cms()).with_tools([ToolCard("shout", "Say it aloud")])
    engine.prepare_call()

    assert len(seen.named("prepare_call")) == 1


def test_instrumenting_twice_records_once(seen: Seen) -> None:
    other = Seen()
    seen.telemetry.instrument(other.telemetry.instrument(cms())).prepare_call()

    assert (len(seen.spans), len(other.spans)) == (1, 0)


@pytest.mark.parametrize("delivery", ["append", "rewrite", "frozen"])
def test_breaks_of_the_cache_are_those_that_manifests_show(seen: Seen, delivery: Any) -> None:
    engine = seen.telemetry.instrument(cms(delivery=delivery))
    manifests, previous = [], None
    for number in range(3):
        memory = Memory((Entity("page", f"p-{number}", f"Page {number}"),))
        call = engine.prepare_call(Turn(now=NOW, memory=memory), previous=previous)
        for tools in ([], ["cms_createPage"], ["cms_createPage", "cms_deletePage"]):
            results = [ToolResult("tool_search", {"tools": tools}, f"c-{number}-{len(tools)}")]
            manifests.append(engine.prepare_step(call, results).manifest)
        previous = call
    expected = [broken for before, after in pairwise(manifests) if (broken := compare(before, after).first_break)]
    events = [event for span in seen.spans for event in span.events]

    assert seen.total("cuecard.cache_breaks") == len(events) == len(expected)
    assert [(e.attributes or {})["cuecard.cache_break.section"] for e in events] == [b.id for b in expected]
    assert (delivery == "rewrite") <= bool(expected)


def test_under_append_a_compaction_is_the_one_break(seen: Seen) -> None:
    engine = seen.telemetry.instrument(cms())
    chat = engine.conversation()
    for number in range(3):
        chat.user(Turn(now=NOW))
        chat.step([search(engine, "create a page", f"c-{number}")])
    assert seen.total("cuecard.cache_breaks") == 0
    chat.compacted()
    chat.user(Turn(now=NOW))
    chat.step()

    assert seen.total("cuecard.cache_breaks") == 1
    (point,) = seen.metrics["cuecard.cache_breaks"]
    assert point.attributes == {
        "gen_ai.prompt.name": "cms",
        "cuecard.delivery": "append",
        "cuecard.cache_break.cause": "compaction",
    }
    assert [span["cuecard.baseline"] for span in seen.named("prepare_call")] == [False, False, False, True]


def test_dropped_instructions_are_counted_once(seen: Seen, tmp_path: Path) -> None:
    agent = tmp_path / "agent.yaml"
    agent.write_text(
        f"extends: {ROOT / 'prompts' / 'cms' / 'agent.yaml'}\nagent: small\nbudget: {{total: 8000, protocols: 500}}\n"
    )
    engine = seen.telemetry.instrument(Engine.open(agent, clock=lambda: NOW))
    chat = engine.conversation()
    chat.user(Turn())
    names = [name for name in engine.instructions if name not in engine.core_tools][:12]
    step = chat.step([ToolResult("tool_search", {"tools": names}, "c-1")])
    dropped = {cut.what for cut in step.manifest.cuts if cut.tokens and cut.what in engine.tools}
    chat.step([ToolResult("cms_listPages", [], "c-2")])

    assert len(dropped) > 3
    assert seen.total("cuecard.instructions.dropped") == len(dropped)


def test_an_error_is_reported_by_its_type_and_its_codes(seen: Seen) -> None:
    engine = seen.telemetry.instrument(cms())
    call = engine.prepare_call()
    with pytest.raises(InputError):
        engine.prepare_step(replace(call, configuration=replace(call.configuration, sha256="0" * 64)))
    *_, span = seen.spans

    assert not span.status.is_ok
    assert span.status.description is None
    assert (span.attributes or {})["error.type"] == "InputError"
    assert (span.attributes or {})["cuecard.problems"]
    assert not span.events


def test_reloads_are_spans_and_every_engine_of_a_watcher_is_recorded(seen: Seen, tmp_path: Path) -> None:
    agent = tmp_path / "agent.yaml"
    agent.write_text("agent: helper\nsections: [{id: role, text: You help.}]\n")
    with watch(agent, states=tmp_path / "states", ready=seen.telemetry.instrument) as watcher:
        forget = seen.telemetry.follow(watcher)
        pins = Pins(watcher)
        pins.serve().prepare_call()
        for number, text in enumerate(["agent: [", "agent: helper\nsections: [{id: role, text: You help more.}]\n"]):
            agent.write_text(text)
            _wait(lambda number=number: len(seen.named("reload")) > number)
        pins.serve().prepare_call()
        forget()
    refused, served = seen.named("reload")
    first, second = seen.named("prepare_call")

    assert (refused["cuecard.reload.outcome"], served["cuecard.reload.outcome"]) == ("refused", "served")
    assert refused["cuecard.problems"]
    assert refused["cuecard.configuration.sha256"] == first["cuecard.configuration.sha256"]
    assert served["cuecard.configuration.sha256"] == second["cuecard.configuration.sha256"]
    assert list(served["cuecard.reload.changed"]) == ["agent.yaml"]
    assert seen.total("cuecard.reloads") == 2


def _wait(ready: Any, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def test_a_version_of_your_own_links_prompts_in_langfuse() -> None:
    numbered, named = Seen(version=7), Seen(version="2026-11")
    for each in (numbered, named):
        each.telemetry.instrument(cms()).prepare_call()
    (one,), (other,) = numbered.named("prepare_call"), named.named("prepare_call")

    assert (one["gen_ai.prompt.version"], one["langfuse.observation.prompt.version"]) == ("7", 7)
    assert other["gen_ai.prompt.version"] == "2026-11"
    assert "langfuse.observation.prompt.version" not in other


def test_a_version_of_a_library_names_its_prompts(tmp_path: Path) -> None:
    library = Library(f"sqlite:///{tmp_path}/prompts.db")
    library.create()
    for text in ("X", "Y"):
        (tmp_path / "agent.yaml").write_text(f"agent: helper\nsections: [{{id: a, text: {text}}}]\n", encoding="utf-8")
        library.publish(tmp_path, "m", author="Ann", label="production")
    seen = Seen()
    engine = seen.telemetry.instrument(library.engine("helper"))
    engine.prepare_step(engine.prepare_call())
    library.close()
    for name in ("prepare_call", "prepare_step"):
        (span,) = seen.named(name)
        assert (span["gen_ai.prompt.name"], span["gen_ai.prompt.version"]) == ("helper", "2")
        assert span["langfuse.observation.prompt.version"] == 2


def test_a_hosts_own_span_may_name_the_prompt(seen: Seen) -> None:
    step = cms().prepare_step(cms().prepare_call())
    attributes = seen.telemetry.attributes(step)

    assert attributes == seen.telemetry.attributes(step.manifest)
    assert attributes["gen_ai.prompt.name"] == "cms"


def test_a_salted_engine_tells_salted_fingerprints(seen: Seen) -> None:
    plain, engine = cms(), seen.telemetry.instrument(cms(salt="salt"))
    step = engine.prepare_step(engine.prepare_call())
    (span,) = seen.named("prepare_step")

    assert span["cuecard.configuration.sha256"] == step.manifest.configuration.sha256 != plain.sha256
    assert not set(span["cuecard.section.sha256"]) & {
        s.sha256 for s in plain.prepare_step(plain.prepare_call()).segments
    }
    assert plain.sha256 not in json.dumps([each.to_json() for each in seen.spans])


def test_calls_that_nobody_holds_are_forgotten(seen: Seen) -> None:
    engine = seen.telemetry.instrument(cms())
    for _ in range(20):
        engine.prepare_step(engine.prepare_call())

    assert len(seen.telemetry._recorder._last) <= 1


def test_what_is_wrong_is_refused(seen: Seen) -> None:
    with pytest.raises(InputError) as caught:
        Telemetry(tracer_provider=7, meter_provider="x", version=-1)  # type: ignore[arg-type]
    assert {problem.name for problem in caught.value.problems} == {"tracer_provider", "meter_provider", "version"}
    telemetry: Any = seen.telemetry
    for refuse, wrong in ((telemetry.instrument, "cms"), (telemetry.follow, cms()), (telemetry.attributes, {})):
        with pytest.raises(InputError):
            refuse(wrong)


OFF = """
import sys
import time
from dataclasses import replace
from cuecard import Engine, ToolResult, Turn
from cuecard.model import TokenSource
from cuecard.files.tokens import TokenCounter
letters = TokenCounter(TokenSource("letters", "test", exact=True), len)  # a table of tokens takes long to read
engine = replace(Engine.open("prompts/cms"), count=letters)
chat = engine.conversation()
chat.user(Turn())
chat.step([ToolResult("tool_search", engine.search_tools("create a page").to_json(), "c-1")]).manifest
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
sys.modules["opentelemetry.trace"] = None
try:
    import cuecard.telemetry
except Exception as error:
    print(error)
"""


def test_it_is_not_imported_unless_it_is_turned_on_and_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", OFF], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert 'pip install "cuecard[otel]"' in done.stdout


def test_spans_say_which_conversation_run_and_request_they_belong_to(seen: Seen) -> None:
    chat = seen.telemetry.instrument(cms_agent.cms()).conversation()
    for said in range(2):
        chat.user(Turn(now=NOW, conversation="thread-a"))
        chat.step()
        chat.search_tools("create a page")
        chat.step([ToolResult("tool_search", {"tools": ["cms_createPage"]}, f"call-{said}")])

    names = ("gen_ai.conversation.id", "cuecard.turn")
    told = [[each.get(name) for name in (*names, "cuecard.step")] for each in seen.named("prepare_step")]
    assert told == [["thread-a", 0, 0], ["thread-a", 0, 1], ["thread-a", 1, 0], ["thread-a", 1, 1]]
    for kind in ("prepare_call", "search_tools"):
        assert [[each.get(name) for name in names] for each in seen.named(kind)] == [["thread-a", 0], ["thread-a", 1]]


def test_spans_and_metrics_name_the_conventions_that_have_their_names(seen: Seen) -> None:
    engine = seen.telemetry.instrument(cms())
    engine.prepare_step(engine.prepare_call())
    (scope,) = {span.instrumentation_scope for span in seen.spans}
    names = {name for span in seen.spans for name in span.attributes or {} if name.startswith("gen_ai.")}
    known = {getattr(gen_ai_attributes, each) for each in dir(gen_ai_attributes) if each.startswith("GEN_AI_")}

    assert scope
    assert scope.schema_url in {each.value for each in Schemas}
    assert names - known == {"gen_ai.prompt.version"}, "which backends read, and the conventions have no word for"
    assert "gen_ai.agent.name" in names
