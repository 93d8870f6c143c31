"""What fits is decided once: the same in a conversation, by a stateless step and by a search, and never more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from cuecard import Engine, Step, ToolCard, ToolResult, Turn
from cuecard.types import Delivery, Json
from unit.agent.section_lists.agents import opened

NOW = datetime(2026, 11, 20, tzinfo=UTC)
TOOLS = ("page", "set-page", "images", "cms-images", "my_set-page", "find", "refind")
"""Names that end in one another."""

SLOTS = (
    "{{{activeProtocols}}}",
    "<howto>\\n{{{activeProtocols}}}\\n</howto>",
    "{{#if activeProtocols}}\\n<howto>\\n{{{activeProtocols}}}\\n</howto>\\n{{/if}}",
    "<howto>\\n{{{activeProtocols}}}\\n\\n/the end\\n</howto>",
    "Tools: {{{activeProtocols}}} and no others.",
)
CUES = ", cues: {on_discovery: [before, gotcha], on_result: [after, next]}"


@cache
def made(slot: str, cues: str, when: str, budget: str, delivery: Delivery) -> Engine:
    words = "look at what is there and ask before anything changes"
    entries = "".join(
        f"  {name}: {{before: {words}, after: {' '.join([words] * at)}, next: none, gotcha: none}}\n"
        for at, name in enumerate(("tool_search", *TOOLS), 1)
    )
    text = (
        "agent: a\ninputs: {show: {type: boolean, default: true}}\n"
        f"tools: {{instructions: t.yaml, core: [tool_search]{cues}}}\nbudget: {{{budget}}}\nsections:\n"
        f'- {{id: rules, text: "Be kind."}}\n- {{id: howto, text: "{slot}"{when}}}\n'
        '- {id: more, when: {input: show}, text: "Say what you have done."}\n'
    )
    with TemporaryDirectory() as folder:
        made = opened(Path(folder), text, delivery=delivery, t_yaml=f"category: c\ntools:\n{entries}")
    return made.with_tools(ToolCard(name, "", schema(at)) for at, name in enumerate(TOOLS))


def schema(size: int) -> dict[str, Json]:
    """From 20 to 100 tokens."""
    return {"type": "object", "properties": {f"part_{at}": {"type": "string"} for at in range(size)}}


DEFINED = ("definitions: 150", "definitions: 90, protocols: 160", "definitions: 200, total: 420")
ENGINES = st.builds(
    made,
    st.sampled_from(SLOTS),
    st.sampled_from(["", "", CUES]),
    st.sampled_from(["", "", ", when: {input: show}"]),
    st.sampled_from(
        ["", "total: 150", "total: 240", "total: 420", "protocols: 120", "total: 400, protocols: 160", *DEFINED]
    ),
    st.sampled_from(["append", "append", "rewrite", "frozen"]),
)
NAMES = st.lists(st.sampled_from(TOOLS), min_size=1, max_size=4, unique=True)
RESULTS = st.one_of(NAMES.map(tuple), st.sampled_from(TOOLS))
STEPS = st.lists(RESULTS, max_size=3)
TURNS = st.tuples(
    st.booleans(),
    st.sampled_from([None, TOOLS[:3], TOOLS[2:]]),
    st.one_of(st.just(()), NAMES.map(tuple)),
    st.sampled_from([False, False, False, True]),
    st.lists(STEPS, max_size=3),
)


@given(engine=ENGINES, turns=st.lists(TURNS, min_size=1, max_size=3))
def test_a_tool_is_active_with_its_instructions_or_withheld_with_a_reason_whoever_asks(
    engine: Engine, turns: list[tuple[bool, tuple[str, ...] | None, tuple[str, ...], bool, list[list[object]]]]
) -> None:
    chat, call, history = engine.conversation(), None, list[ToolResult]()
    for show, there, hinted, compacted, steps in turns:
        turn = Turn({"show": show}, now=NOW, tools=there and ("tool_search", *there), discovered=hinted)
        if compacted and call:
            chat.compacted()
        call = engine.prepare_call(turn, history, previous=call, compacted=compacted)
        assert chat.user(turn) == call
        for said in [[], *steps]:
            new = [result(each, f"call-{len(history) + at}") for at, each in enumerate(said)]
            history += new
            step = chat.step(new)
            assert engine.prepare_step(call, history).to_json() == step.to_json()
            holds(engine, step, always=all(shown for shown, *_ in turns))
            what = engine.search_tools("look set page images", call=call, history=history)
            seen = ToolResult("tool_search", what.to_json(), "next")
            after = engine.prepare_step(call, [*history, seen])
            assert {*what.tools} <= {*after.active_tools}
            assert not {*what.withheld} & {*after.active_tools}
            assert chat.search_tools("look set page images") == what


def result(what: object, call_id: str) -> ToolResult:
    """The result of a search for several names, or of the tool with one."""
    found = isinstance(what, tuple)
    return (
        ToolResult("tool_search", {"tools": what}, call_id) if found else ToolResult(str(what), {"ok": True}, call_id)
    )


def holds(engine: Engine, step: Step, *, always: bool) -> None:
    text = step.system + "".join(block.text for block in step.appended)
    cuts = {cut.what: cut.reason for cut in step.manifest.cuts}
    for tool in TOOLS:
        if tool in step.active_tools:
            parts = engine.agent.protocols[tool]
            assert parts.text.strip() in text or parts.first.strip() in text
            assert not always or text.count(f"<{tool}>\nBEFORE") == 1
        elif step.refusal(tool) and "no room left" in (step.refusal(tool) or ""):
            assert cuts[tool].startswith("not active: ")
    total = engine.agent.spec.budget.total
    assert total is None or step.manifest.total_tokens <= total or "budget.total" in cuts
    paid = sum(engine.count(engine.agent.protocols[tool].text) for tool in only(step.active_tools))
    limit = engine.agent.spec.budget.protocols
    assert limit is None or engine.delivery == "frozen" or paid <= limit
    defined = step.manifest.definitions
    assert {*defined} == only(step.active_tools)
    limit = engine.agent.spec.budget.definitions
    assert limit is None or engine.delivery == "frozen" or sum(defined.values()) <= limit


def only(tools: Sequence[str]) -> set[str]:
    return {*tools} & {*TOOLS}
