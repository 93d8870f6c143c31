"""One assembly: an XML core is one way to write a list of sections, and keeps all promises when changed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from cuecard import Call, Engine, Entity, Memory, Step, ToolResult, Turn
from cuecard.types import DeliveryWish
from property.cores import NOW, STILL, Core, cores, engine_of, with_list, with_template

Spec = dict[str, Any]

# A conversation of several calls, each with several steps.

DELIVERIES: st.SearchStrategy[DeliveryWish] = st.sampled_from(("append", "rewrite", "frozen"))
CHOICES: Spec = {"profiles": {"p": {}}, "variants": {"v": {}}}
PLAIN = st.sampled_from(["", "Bo", "two\nlines", "</a>", "<tools>", "a & b", "</agent>\n", "{{x}}", "/", " ", "\n"])
FOUND = st.lists(st.lists(st.sampled_from(["get_page", "put_page", "nowhere"]), max_size=2), max_size=2)


def turns(texts: st.SearchStrategy[str] = PLAIN) -> st.SearchStrategy[Turn]:
    inputs = {"said": texts, "who": texts, "flag": st.booleans(), "rows": st.lists(texts, max_size=2)}
    return st.builds(
        Turn,
        st.fixed_dictionaries(inputs),
        memory=st.builds(Memory, st.lists(st.builds(Entity, texts, texts, texts), max_size=2).map(tuple)),
        now=st.sampled_from([NOW, NOW + timedelta(days=1)]),
        profile=st.sampled_from(["", "", "p"]),
        variant=st.sampled_from(["", "", "v"]),
    )


TALKS = st.lists(st.tuples(turns(), FOUND), min_size=1, max_size=4)
Talk = list[tuple[Turn, list[list[str]]]]


def play(engine: Engine, talk: Talk) -> list[Step]:
    history: list[ToolResult] = []
    previous: Call | None = None
    steps = []
    for turn, searches in talk:
        call = engine.prepare_call(turn, history, previous=previous)
        steps.append(engine.prepare_step(call, history))
        for names in searches:
            history.append(ToolResult("tool_search", {"tools": names}, f"call-{len(history)}"))
            steps.append(engine.prepare_step(call, history))
        previous = Call.from_json(json.loads(json.dumps(call.to_json())))
    return steps


# What an agent file may say of sections, whoever wrote them.

SAID = st.fixed_dictionaries(
    {},
    optional={
        "when": st.sampled_from(["said", "flag", {"not": "flag"}, {"equals": {"who": "Bo"}}, {"tool": "get_page"}]),
        "priority": st.integers(1, 3),
        "budget": st.sampled_from([1, 8, 15, 400]),
        "tier": st.just("step"),
    },
)


EITHER = st.booleans()
BUDGETS = st.sampled_from([{}, {"total": 60}, {"total": 160}, {"protocols": 40}])
SPACES = st.sampled_from(["keep", "keep", "compact"])
ENCODINGS = st.sampled_from(["o200k_base", "cl100k_base"])
SIDES = st.sampled_from(["before", "after"])


@st.composite
def said(draw: st.DrawFn, core: Core) -> dict[str, Spec]:
    return {name: draw(SAID) for name in core.ids if draw(EITHER)}


@st.composite
def selections(draw: st.DrawFn, core: Core) -> dict[str, Any]:
    some = st.lists(st.sampled_from(core.ids), unique=True)
    patch = {"id": draw(st.sampled_from(core.ids)), "priority": 1, "when": "flag"}
    return {
        "profiles": {"p": {"include": [*draw(some), "tools"]}},
        "variants": {"v": {"exclude": draw(some), "sections": [patch]}},
        "budget": draw(BUDGETS),
        "whitespace": draw(SPACES),
        "tokens": {"encoding": draw(ENCODINGS)},
    }


def alike(step: Step) -> tuple[Any, ...]:
    """What does not depend on how the sections were written."""
    record = step.manifest
    blocks = [(block.after_call_id, block.text, block.id, block.tokens, block.turn) for block in step.appended]
    pieces = [(segment.text, segment.tokens, segment.tier, segment.sha256) for segment in step.segments]
    figures = record.tokens, record.total_tokens
    trust = {what: number for what, number in record.trust.items() if what != "layout_marks"}
    return step.system, pieces, blocks, figures, record.cuts, trust, record.active_tools, record.protocols


@given(core=cores(STILL), talk=TALKS, data=st.data())
def test_an_xml_core_is_one_way_to_write_a_list_of_sections(core: Core, talk: Talk, data: st.DataObject) -> None:
    """The same bytes, blocks and tokens under all three deliveries, in every call and step of a conversation.

    The tags of the root are no sections: where one reads a value that changes, only a template knows its closing tag.
    """
    own, chosen = data.draw(said(core)), data.draw(selections(core))
    included = [*chosen["profiles"]["p"]["include"], "opening", "closing"]
    listed = {**chosen, "profiles": {"p": {"include": included}}}
    delivery = data.draw(DELIVERIES)

    template = play(engine_of(with_template(own, **chosen), core.template, delivery), talk)
    sections = play(engine_of(with_list(core, own, **listed), "", delivery), talk)

    for one, other in zip(template, sections, strict=True):
        assert alike(one) == alike(other)


# Cores that another file changes.

TEXTS = st.sampled_from(
    [
        *(
            "Be brief.",
            "# Rules\n\n- one\n- two\n",
            "You help {{{said}}}.",
            "{{{said}}}",
            "{{> short}}",
            "a <b>{{who}}</b>",
        ),
        *("{{#each rows}}- {{{this}}}\n{{/each}}", "<!-- c -->x", "{{#if flag}}\nYes {{{who}}}.\n{{/if}}", "\n", "/x"),
    ]
)


@st.composite
def changes(draw: st.DrawFn, core: Core, said: st.SearchStrategy[Spec] = SAID) -> tuple[list[Spec], list[str]]:
    """What a child says of the sections of a core, and the order in which they then stand."""
    order, patches = list(core.ids), []
    for name in draw(st.lists(st.sampled_from([*core.ids, "new", "newer"]), unique=True, min_size=1, max_size=4)):
        others = [other for other in order if other != name]
        kinds = ["text", "move", "say"] if name in order else ["add"]
        kind = draw(st.sampled_from([*kinds, *(["remove"] if name in order and name != "tools" else [])]))
        patch: Spec = {"id": name}
        if kind == "remove":
            patches.append({**patch, "remove": True})
            order = others
            continue
        if kind in {"move", "add"} and others:
            key, anchor = draw(SIDES), draw(st.sampled_from(others))
            at = others.index(anchor) + (key == "after")
            patch[key], order = anchor, [*others[:at], name, *others[at:]]
        elif kind == "add":
            continue
        if kind in {"text", "add"}:
            text = draw(TEXTS)
            patch["text"] = f"{text}\n{{{{{{activeProtocols}}}}}}" if name == "tools" else text
        patches.append({**patch, **(draw(said) if kind != "move" else {})})
    return patches, order


def unlimited(said: Spec) -> Spec:
    return {key: value for key, value in said.items() if key != "budget"}


def changed(
    core: Core, patches: Sequence[Spec], delivery: DeliveryWish = "append", *, anew: bool = False, **more: Any
) -> Engine:
    child = {"extends": "a.yaml", "sections": list(patches), **CHOICES, **more}
    return engine_of(with_template({}), core.template, delivery, child, anew=anew)


@given(core=cores(), talk=TALKS, data=st.data())
def test_promise_6_exact_sums_of_changed_cores(core: Core, talk: Talk, data: st.DataObject) -> None:
    """The token count of the prompt is the sum of its sections' counts, for the bundled encodings."""
    patches, order = data.draw(changes(core))
    delivery = data.draw(DELIVERIES)
    tokens = {"encoding": data.draw(ENCODINGS)}
    engine = changed(core, patches, delivery, tokens=tokens)

    for step in play(engine, talk):
        assert sum(segment.tokens for segment in step.segments) == engine.count(step.system)
        assert step.manifest.total_tokens == engine.count(step.system) + sum(
            engine.count(block.text) for block in step.appended
        )
        assert [s.id for s in step.segments if s.id in order] == [
            n for n in order if n in {s.id for s in step.segments}
        ]


TIDY = st.sampled_from(["Bo", "two\nlines", "a, b", "", "x" * 30])


@given(core=cores(), turn=turns(TIDY), data=st.data())
def test_a_changed_core_is_well_formed_and_nothing_is_left_out_silently(
    core: Core, turn: Turn, data: st.DataObject
) -> None:
    """Whatever was left out is in the manifest, with the reason."""
    patches, order = data.draw(changes(core, SAID.map(unlimited)))
    engine = changed(core, patches)
    step = engine.prepare_step(engine.prepare_call(turn))
    cuts = {cut.what: cut.reason for cut in step.manifest.cuts}
    there = {segment.id for segment in step.segments}

    etree.fromstring(step.system.encode())
    ids = {section.id for section in engine.agent.sections}
    assert ids <= {*order, *core.ids}
    assert ids == {*(there & ids), *(cuts.keys() & ids), *({"tools"} & ids)}
    assert all(cuts.values())


# Values stay values, also in what was changed.

HOSTILE = st.lists(
    st.sampled_from(
        [
            *(
                "<new>",
                "</new>",
                "<a>",
                "</a>",
                "</agent>",
                "<agent>",
                "<tools>",
                "</tools>",
                "new",
                "<",
                "</",
                ">",
                "/",
                "a",
            ),
            *(
                "<\u200bnew>",
                "\u2039new>",
                "&lt;",
                "</new >",
                "<NEW>",
                "<new\n>",
                "]]>",
                "-->",
                "<!--",
                '"',
                "'",
                "\n",
                " ",
            ),
            *("{{said}}", "{{{said}}}", "<context-update>", "</context-update>", "\U000e0041", "\r\n", "<new/>", "<x>"),
        ]
    ),
    min_size=1,
    max_size=9,
).map(lambda marks: "".join([*marks, "."]))


def own_tags(text: str, engine: Engine) -> list[str]:
    """The tags of this prompt's own elements, to a tolerant reader."""
    names = "|".join(re.escape(name) for name in sorted(engine.agent.names, key=len, reverse=True))
    return [
        re.sub(r"\s", "", tag[0]).lower()
        for tag in re.finditer(rf"[<\u2039]\s*/?\s*(?:{names})(?![-\w.:·])", text, re.IGNORECASE)
    ]


@given(core=cores(bare=False), hostile=turns(HOSTILE), escaping=st.sampled_from(["text", "names"]), data=st.data())
def test_promise_3_no_value_can_open_or_close_an_element_that_was_changed(
    core: Core, hostile: Turn, escaping: str, data: st.DataObject
) -> None:
    """Any string put into a template comes out as data: it cannot open or close a section."""
    new = {"id": "new", "after": "tools", "text": data.draw(TEXTS) + "{{{said}}}", "when": "said"}
    over = {"id": core.ids[0], "before": "tools", "text": "{{{said}}}\n{{who}}"} if core.ids[0] != "tools" else new
    template = {"file": "a.xml", "escaping": escaping, "partials": "p"}
    engine = changed(core, [new] if over is new else [new, over], template=template)
    entities = tuple(Entity("t", "i", "n") for _ in hostile.memory.entities)
    rows = ["x" for _ in hostile.inputs["rows"]]
    calm = Turn({**hostile.inputs, "said": "x", "who": "x", "rows": rows}, memory=Memory(entities), now=hostile.now)

    made, expected = (engine.prepare_step(engine.prepare_call(turn)) for turn in (hostile, calm))

    assert own_tags(made.system, engine) == own_tags(expected.system, engine)


@given(core=cores(), talk=TALKS, data=st.data())
def test_promises_4_and_5_same_inputs_same_bytes_and_append_only(core: Core, talk: Talk, data: st.DataObject) -> None:
    """Equal spec and turn give equal prompt, manifest and fingerprints, on any machine.

    Under `append` delivery, the serialized request n starts with the serialized request n-1.
    """
    patches, _ = data.draw(changes(core))
    steps = play(changed(core, patches), talk)

    assert steps == play(changed(core, patches, anew=True), talk)
    for before, after in pairwise(steps):
        assert after.system == before.system
        assert after.appended[: len(before.appended)] == before.appended
