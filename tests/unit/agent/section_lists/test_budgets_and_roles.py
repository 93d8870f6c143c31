"""What a section may take, who goes first, and sections that are messages of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Engine, Message, SpecError, Turn, compare_manifests
from cuecard.agent.specification import MAX_SECTIONS
from unit.agent.section_lists.agents import TOOLS, agent, cut, opened, prompt, search, step

HI = Message("user", "Hi")
LINES = "\\n".join(f"Line {number} of the list." for number in range(1, 9))


def test_a_section_is_cut_at_the_end_of_a_line(tmp_path: Path) -> None:
    engine = opened(tmp_path, f'agent: a\nsections: [{{id: a, budget: 20, text: "{LINES}"}}, {{id: b, text: b}}]\n')
    made = step(engine)
    kept = made.system.removesuffix("\n\nb")

    assert kept.splitlines() == [f"Line {number} of the list." for number in range(1, kept.count("\n") + 2)]
    assert engine.count(kept) <= 20 < engine.count(f"{kept}\nLine 3 of the list.")
    assert cut(made, "a").reason == "budget: 20 tokens"
    assert cut(made, "a").tokens == engine.count(LINES.replace("\\n", "\n")) - engine.count(kept)


def test_a_section_whose_first_line_does_not_fit_leaves_no_heading(tmp_path: Path) -> None:
    engine = opened(
        tmp_path,
        'agent: a\nlayout: {heading: "## {{title}}\\n"}\n'
        "sections: [{id: a, title: A, budget: 2, text: one two three four five}, {id: b, text: b}]\n",
    )

    assert prompt(engine) == "b"


def test_a_budget_holds_in_a_message_too(tmp_path: Path) -> None:
    engine = opened(
        tmp_path, f'agent: a\nsections: [{{id: a, text: a}}, {{id: b, role: user, budget: 20, text: "{LINES}"}}]\n'
    )
    made = step(engine)
    texts = [message.content for message in made.messages if isinstance(message.content, str)]

    assert cut(made, "b").reason == "budget: 20 tokens"
    assert "Line 1" in "".join(texts)
    assert "Line 8" not in "".join(texts)


PRIORITIES = """\
agent: a
budget: {total: TOTAL}
sections:
  - {id: a, text: alpha alpha alpha alpha alpha alpha}
  - {id: b, text: beta beta beta beta beta beta, priority: 2}
  - {id: c, text: gamma gamma gamma gamma gamma gamma, priority: 1}
  - {id: d, text: delta delta delta delta delta delta, priority: 1}
"""


def test_over_the_total_the_lowest_priority_goes_first_and_of_equals_the_last(tmp_path: Path) -> None:
    whole = step(opened(tmp_path, PRIORITIES.replace("TOTAL", "1000")))
    tokens = {segment.id: segment.tokens for segment in whole.segments}
    gone = []
    for total in range(whole.manifest.total_tokens, 0, -1):
        made = step(opened(tmp_path, PRIORITIES.replace("TOTAL", str(total))))
        left = [segment.id for segment in made.segments]
        gone += [name for name in "abcd" if name not in left and name not in gone]
        assert made.manifest.total_tokens <= total or left == ["a"]
        assert {c.what for c in made.manifest.cuts} == {*gone, *(["budget.total"] if total < tokens["a"] else [])}

    assert gone == ["d", "c", "b"]


def test_a_cut_section_stays_away_when_the_prompt_is_rewritten(tmp_path: Path) -> None:
    text = (
        PRIORITIES + '  - {id: p, text: "{{{activeProtocols}}}"}\ntools: {instructions: t.yaml, core: [tool_search]}\n'
    )
    base = opened(tmp_path, text.replace("TOTAL", "1000"), t_yaml=TOOLS)
    room = sum(segment.tokens for segment in step(base).segments) - 1
    engine = opened(tmp_path, text.replace("TOTAL", str(room)), delivery="rewrite", t_yaml=TOOLS)
    made = step(engine, Turn(), "get_page")

    assert "delta" not in made.system
    assert made.manifest.total_tokens <= room
    assert cut(made, "d").reason.startswith("budget.total: ")


def test_a_budget_of_protocols_in_a_section_holds_at_every_step(tmp_path: Path) -> None:
    engine = opened(
        tmp_path,
        "agent: a\ndelivery: rewrite\ntools: {instructions: t.yaml, core: [tool_search]}\n"
        'sections: [{id: a, text: a}, {id: p, budget: 40, text: "{{{activeProtocols}}}"}]\n',
        t_yaml=TOOLS,
    )
    call = engine.prepare_call()
    made = engine.prepare_step(call, [search("get_page", "put_page")])

    assert call.record.cuts == ()
    assert "<tool_search>" in made.system
    assert "<put_page>" not in made.system
    assert engine.count(made.system.removeprefix("a\n\n")) <= 40
    assert cut(made, "p").reason == "budget: 40 tokens"


ROLES = """\
agent: a
inputs: {user: {default: Ann}}
tools: {instructions: t.yaml, core: [tool_search]}
layout: {heading: "## {{title}}\\n"}
sections:
  - {id: a, title: A, text: "{{{activeProtocols}}}"}
  - {id: b, title: B, role: user, text: "I am {{{user}}}."}
  - {id: c, title: C, role: assistant, text: Welcome.}
  - {id: d, title: D, text: d}
"""


@pytest.mark.parametrize("delivery", ["append", "rewrite", "frozen"])
def test_a_message_of_a_section_is_neither_in_the_system_prompt_nor_stored(tmp_path: Path, delivery: str) -> None:
    engine = opened(tmp_path, f"{ROLES}delivery: {delivery}\n", t_yaml=TOOLS)
    made = step(engine, Turn(message=HI), "get_page")

    assert "Ann" not in made.system
    assert "Welcome" not in made.system
    assert [(m.role, m.content, m.id, m.persist) for m in made.messages] == [
        ("system", made.system, "", False),
        ("user", "I am Ann.", "b", False),
        ("assistant", "Welcome.", "c", False),
        ("user", "Hi", "", True),
    ]


def test_a_silent_message_is_left_out_with_the_reason(tmp_path: Path) -> None:
    engine = opened(
        tmp_path,
        "agent: a\ninputs: {user: {default: ''}}\n"
        "sections: [{id: a, text: a}, {id: b, role: user, text: '{{{user}}}'}"
        ", {id: c, role: user, when: user, text: c}]\n",
    )
    made = step(engine)

    assert len(made.messages) == 1
    assert [(c.what, c.reason) for c in made.manifest.cuts] == [("c", "when: user"), ("b", "empty")]


def test_a_prompt_of_messages_alone_has_no_system_message(tmp_path: Path) -> None:
    engine = opened(tmp_path, "agent: a\nsections: [{id: a, role: user, text: a}]\n")
    made = step(engine, Turn(message=HI))

    assert made.system == ""
    assert [message.role for message in made.messages] == ["user", "user"]


def test_a_system_prompt_that_begins_with_a_discovery_gets_its_message(tmp_path: Path) -> None:
    engine = opened(
        tmp_path,
        "agent: a\ndelivery: rewrite\ntools: {instructions: t.yaml, core: [tool_search]}\n"
        'sections: [{id: p, text: "{{{activeProtocols}}}"}]\n',
        t_yaml=TOOLS,
    )
    for message in (HI, None):
        call = engine.prepare_call(Turn(message=message, tools=("get_page",)))
        before, after = engine.prepare_step(call), engine.prepare_step(call, [search("get_page")])

        assert [each.role for each in before.messages] == ["user"] * (message is HI)
        assert "Show the page" in after.system
        assert after.messages == (Message("system", after.system, persist=False), *before.messages)


def test_a_section_with_a_role_is_counted_and_its_change_ends_what_two_prompts_share(tmp_path: Path) -> None:
    engine = opened(
        tmp_path,
        "agent: a\ninputs: {x: {default: one}}\n"
        "sections: [{id: a, text: Hello}, {id: b, role: user, text: '{{{x}}}'}, {id: c, role: user, text: c}]\n",
    )
    manifest = step(engine).manifest

    assert [(record.id, record.placement) for record in manifest.sections] == [
        ("a", "system"),
        ("b", "message"),
        ("c", "message"),
    ]
    assert manifest.tokens.messages == engine.count("one") + engine.count("c")
    assert manifest.total_tokens == manifest.tokens.system + manifest.tokens.messages

    ended = compare_manifests(manifest, step(engine, Turn({"x": "two"})).manifest).first_break

    assert ended is not None
    assert (ended.id, ended.placement, str(ended.cause)) == ("b", "message", "input x")
    assert ended.tokens == engine.count("two") + engine.count("c")


def test_sections_are_dropped_until_the_others_fit_and_no_further_however_many_there_are(tmp_path: Path) -> None:
    sections = "".join(f"  - {{id: s{n}, title: T{n}, priority: {n % 7}, text: Line {n}}}\n" for n in range(300))
    head = 'layout: {heading: "## {{title}}\\n", separator: "\\n\\n"}\n'
    engine = opened(tmp_path, f"agent: a\n{head}budget: {{total: 200}}\nsections:\n{sections}")
    manifest = step(engine).manifest
    kept, dropped = [each.id for each in manifest.sections], [cut.what for cut in manifest.cuts]
    order = sorted(range(300), key=lambda n: (n % 7, -n))

    assert dropped == [f"s{n}" for n in order[: len(dropped)]]
    assert kept == [f"s{n}" for n in sorted(order[len(dropped) :])]
    assert (
        manifest.total_tokens
        <= 200
        < manifest.total_tokens + engine.count(f"## T{order[len(dropped) - 1]}\nLine 1\n\n")
    )


@pytest.mark.parametrize("kind", ["list", "core"])
def test_too_many_sections_are_one_error_with_the_limit(tmp_path: Path, kind: str) -> None:
    listed = "".join(f"  - {{id: s{n}}}\n" for n in range(MAX_SECTIONS + 1))
    children = "".join(f"<s{n}>x</s{n}>\n" for n in range(MAX_SECTIONS + 1))
    text = f"agent: a\nsections:\n{listed}" if kind == "list" else "agent: a\ntemplate: agent.xml\n"
    file = agent(tmp_path, text, agent_xml=f"<agent>\n{children}</agent>\n")
    with pytest.raises(SpecError) as caught:
        Engine.open(file)

    (problem,) = caught.value.problems
    assert problem.message == "the prompt has 2,001 sections; at most 2,000"
    assert problem.span
    assert problem.span.line == MAX_SECTIONS + 2 + (kind == "list")
