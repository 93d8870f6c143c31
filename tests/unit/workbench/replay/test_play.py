"""A recorded conversation through the engine: what stands where in each request, and what never changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cuecard import Engine, Step, ToolResult, Turn
from cuecard.adapters import anthropic
from cuecard.config.transcript_file import TranscriptFile, read_transcript
from cuecard.workbench.bill import Prices, bill, first_break
from cuecard.workbench.replay.play import Channel, SentRequest, play, with_inputs, without_searches
from shipped import read_models
from unit.workbench.replay.small import conversation, engine, pages, search

ROOT = Path(__file__).parents[4]


def labels(sent: SentRequest) -> list[str]:
    return [block.label for block in sent.request.blocks]


def test_under_append_what_was_found_comes_after_the_result_that_found_it() -> None:
    first, second, *_ = play(engine(), pages(), "append")

    assert labels(first)[-1] == "messages/user"
    assert labels(second) == [
        *labels(first),
        "messages/assistant",
        "messages/tool_search",
        "appended/list_pages",
        "appended/tool-usage-instructions",
    ]


def test_under_rewrite_definitions_and_instructions_come_in_front() -> None:
    first, second, *_ = play(engine(), pages(), "rewrite")

    assert [name for name in labels(first) if name.startswith("tools/")] == ["tools/tool_search"]
    assert [name for name in labels(second) if name.startswith("tools/")] == ["tools/tool_search", "tools/list_pages"]
    assert not any(name.startswith("appended/") for name in labels(second))


def test_under_frozen_everything_is_there_from_the_start() -> None:
    first = play(engine(), pages(), "frozen")[0]

    assert [name for name in labels(first) if name.startswith("tools/")] == [
        "tools/create_page",
        "tools/list_pages",
    ]
    assert first.manifest.total_tokens > play(engine(), pages(), "append")[0].manifest.total_tokens


def test_all_definitions_may_appear_in_front_under_every_delivery() -> None:
    fronts = [
        [name for name in labels(sent) if name.startswith("tools/")]
        for delivery in ("append", "rewrite", "frozen")
        for sent in play(engine(), pages(), delivery, Channel("all"))
    ]

    others = ["tools/create_page", "tools/list_pages"]
    assert [sorted(front) for front in fronts] == [[*others, "tools/tool_search"]] * 12 + [others] * 6
    assert all(front[0] == "tools/tool_search" for front in fronts[:12])


def test_tools_that_only_the_host_knows_appear_after_the_core_tools() -> None:
    own = {"name": "weather", "description": "Tells the weather."}
    sent = play(engine(), conversation({"user": "Hi", "requests": [{}]}, tools=[own]), "append")

    assert labels(sent[0])[:2] == ["tools/tool_search", "tools/weather"]


def test_parallel_results_keep_together_and_the_instructions_come_after_the_last() -> None:
    found, listed = search("create_page")["calls"][0], search("list_pages")["calls"][0]
    turn = {"user": "Hi", "requests": [{"calls": [found, listed]}, {}]}

    assert labels(play(engine(), conversation(turn), "append")[1])[-6:] == [
        "messages/tool_search",
        "appended/create_page",
        "messages/tool_search",
        "appended/list_pages",
        "appended/tool-usage-instructions",
        "appended/tool-usage-instructions",
    ]


def test_breakpoints_appear_after_both_parts_of_the_system_prompt_and_where_both_requests_end() -> None:
    first, second = play(engine(), pages(), "append")[:2]
    request = second.request
    static, system, before, end = request.breakpoints
    names = [block.label for block in request.blocks]

    assert names[static - 1 : static + 1] == ["system/agent", "system/identity"]
    assert names[system - 1 : system + 1] == ["system//agent", "messages/user"]
    assert before == len(first.request.blocks)
    assert end == len(names)


def test_the_working_memory_is_what_the_results_say_unless_the_transcript_says_it() -> None:
    stated = [{"type": "page", "id": "p9", "name": "Ninth"}]
    told = conversation({"user": "Hi", "requests": [{}]}, {"user": "Go", "memory": stated, "requests": [{}]})
    untold = conversation({"user": "Hi", "requests": [{}]}, {"user": "Go", "requests": [{}]})

    assert "appended/context-update" in labels(play(engine(), told, "append")[1])
    assert "appended/context-update" not in labels(play(engine(), untold, "append")[1])


def test_only_rewrite_looks_at_the_memory_of_single_requests() -> None:
    seen = [{"type": "page", "id": "p9", "name": "Ninth"}]
    recorded = conversation({"user": "Hi", "requests": [{"text": "a"}, {"memory": seen}]})
    breaks = {
        delivery: first_break(*(sent.request for sent in play(engine(), recorded, delivery)))
        for delivery in ("append", "rewrite", "frozen")
    }

    assert breaks["append"] is breaks["frozen"] is None
    assert labels(play(engine(), recorded, "rewrite")[1])[breaks["rewrite"] or 0] == "system/working-memory"


def test_without_searches_leaves_out_searches_and_requests_that_only_search() -> None:
    shorter = without_searches(pages(), "tool_search")

    assert [len(turn.requests) for turn in shorter.turns] == [2, 2]
    assert {call.tool for request in shorter.requests() for call in request.calls} == {"list_pages", "create_page"}


def test_inputs_that_a_turn_states_go_before_those_of_the_command() -> None:
    recorded = conversation(
        {"user": "Hi", "requests": [{}]}, {"user": "Hi", "inputs": {"user": "Bo"}, "requests": [{}]}
    )

    assert [turn.inputs for turn in with_inputs(recorded, {"user": "Ada"}).turns] == [{"user": "Ada"}, {"user": "Bo"}]


NAMES = st.sampled_from(["list_pages", "create_page", "no_such_tool"])
REQUESTS = st.lists(
    st.one_of(
        st.builds(lambda names: search(*names), st.lists(NAMES, max_size=3)),
        st.builds(lambda text: {"text": text}, st.text(max_size=20)),
        st.builds(lambda result: {"calls": [{"tool": "list_pages", "result": result}]}, st.text(max_size=20)),
    ),
    min_size=1,
    max_size=4,
)
MEMORIES = st.lists(
    st.builds(lambda n: {"type": "page", "id": f"p{n}", "name": f"Page {n}"}, st.integers(0, 3)), max_size=2
)
TURNS = st.builds(
    lambda user, requests, memory, day: {
        "user": user,
        "requests": requests,
        "memory": memory,
        "at": f"2026-11-{day:02d}T12:00:00+00:00",
    },
    st.text(max_size=10),
    REQUESTS,
    MEMORIES,
    st.integers(20, 22),
)


@settings(max_examples=40)
@given(turns=st.lists(TURNS, min_size=1, max_size=3), definitions=st.sampled_from(["deferred", "all"]))
def test_promise_5_under_append_and_frozen_every_request_begins_with_the_one_before(
    turns: list[dict[str, Any]], definitions: Any
) -> None:
    for delivery in ("append", "frozen"):
        sent = play(engine(), conversation(*turns), delivery, Channel(definitions))

        assert [first_break(a.request, b.request) for a, b in pairwise(sent)] == [None] * (len(sent) - 1)


@settings(max_examples=20)
@given(turns=st.lists(TURNS, min_size=1, max_size=3))
def test_the_system_prompt_and_the_appended_blocks_have_the_tokens_of_the_manifest(turns: list[dict[str, Any]]) -> None:
    for delivery in ("append", "rewrite", "frozen"):
        for sent in play(engine(), conversation(*turns), delivery, Channel("all")):
            groups: dict[str, int] = {}
            for block in sent.request.blocks:
                group = block.label.partition("/")[0]
                groups[group] = groups.get(group, 0) + block.tokens

            assert groups["system"] == sent.manifest.tokens.system
            assert groups.get("appended", 0) == sent.manifest.tokens.appended


def test_the_order_is_that_of_the_body_which_the_adapter_makes() -> None:
    """Block by block, the last request of the shipped recording is the body of `adapters.anthropic`."""
    cms = Engine.open(ROOT / "prompts" / "cms", delivery="append")
    path = ROOT / "examples" / "cms" / "recordings" / "blog-post.json"
    recorded = read_transcript(path.read_text(encoding="utf-8"), path.name)
    step, messages = last_step(cms, recorded)
    told = [{"name": tool.name, "input_schema": tool.input_schema} for tool in recorded.tools]
    body = anthropic.request(step, messages, model=read_models().find("claude-opus-4-8"), tools=told, defer=True)
    front = [f"tools/{tool['name']}" for tool in body["tools"] if not tool.get("defer_loading")]
    last = play(cms, recorded, "append")[-1]

    assert [name for name in labels(last) if name.startswith("tools/")] == front
    assert [kind(name) for name in labels(last) if not name.startswith(("tools/", "system/"))] == said(body)
    assert "".join(block["text"] for block in body["system"]) == step.system


def last_step(cms: Engine, recorded: TranscriptFile) -> tuple[Step, list[dict[str, Any]]]:
    """The last step of the conversation, and its messages as the host would have them."""
    messages: list[dict[str, Any]] = []
    history: list[ToolResult] = []
    call, memory, before, step = None, cms.remember(Turn().memory, ()), 0, None
    for number, turn in enumerate(recorded.turns, 1):
        messages.append({"role": "user", "content": turn.user})
        memory, before = cms.remember(memory, history[before:]), len(history)
        call = cms.prepare_call(Turn(memory=memory, now=turn.at), history, previous=call)
        for place, request in enumerate(turn.requests, 1):
            step = cms.prepare_step(call, history)
            if (number, place) == (len(recorded.turns), len(turn.requests)):
                break
            ids = [f"{number}.{place}.{n}" for n in range(1, len(request.calls) + 1)]
            uses = [
                {"type": "tool_use", "id": i, "name": c.tool, "input": c.args}
                for i, c in zip(ids, request.calls, strict=True)
            ]
            results = [
                {"type": "tool_result", "tool_use_id": i, "content": json.dumps(c.result)}
                for i, c in zip(ids, request.calls, strict=True)
            ]
            text = [{"type": "text", "text": request.text}] if request.text else []
            messages.append({"role": "assistant", "content": [*text, *uses]})
            messages += [{"role": "user", "content": results}] if results else []
            history += [ToolResult(c.tool, c.result, i, c.is_error) for i, c in zip(ids, request.calls, strict=True)]
    assert step is not None
    return step, messages


def kind(label: str) -> str:
    group, _, name = label.partition("/")
    if group == "appended":
        return "definition" if name.startswith(("cms_", "pexels_")) else "instructions"
    return name if name in {"user", "assistant"} else "result"


def said(body: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for message in body["messages"]:
        for block in message["content"]:
            if message["role"] == "assistant":
                found.append("assistant")
            elif block["type"] == "tool_result":
                references = [b for b in block["content"] if isinstance(b, dict) and b["type"] == "tool_reference"]
                found += ["result", *(["definition"] * len(references))]
            else:
                found.append("instructions" if message["role"] == "system" else "user")
    return found


def test_sections_that_are_messages_appear_between_system_prompt_and_conversation() -> None:
    helper = Engine.open(ROOT / "tests" / "cases" / "agents" / "roles_and_messages")
    first = play(helper, conversation({"user": "Hi", "requests": [{"text": "Hello"}]}), "append")[0]

    assert labels(first) == ["system/identity", "messages/example", "messages/answer", "messages/user"]


def test_forcing_the_first_tool_drops_the_messages_from_the_cache_of_a_model_that_counts_it_in(tmp_path: Path) -> None:
    text = (ROOT / "examples" / "cms" / "recordings" / "blog-post.json").read_text(encoding="utf-8")
    talk, agent = read_transcript(text, "blog-post.json"), tmp_path / "agent.yaml"

    def cost(force: str, model: str) -> float:
        limits = f"run: {{first_tool: acknowledge, force_first: {force}}}\n"
        agent.write_text(f"agent: cms\nextends: {ROOT}/prompts/cms/agent.yaml\n{limits}")
        profile = read_models().find(model)
        sent = play(Engine.open(agent), talk, "append", Channel.of(profile))
        return bill([each.request for each in sent], Prices.of(profile)).cost

    assert cost("true", "claude-opus-4-8") > 1.05 * cost("false", "claude-opus-4-8")
    assert cost("true", "gpt-5") == cost("false", "gpt-5")
