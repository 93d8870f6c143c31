"""What a conversation is told when files or selections change, and what was made under the removed `reload: append`."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cuecard import Call, Engine, InputError, SpecError, Step, ToolResult, Turn
from property.editions import Edition
from unit.agent.section_lists.agents import PROTOCOLS, TOOLS, opened, search

NOW = datetime(2026, 11, 20, tzinfo=UTC)
FIRST = Edition(tools=(1, 1, 1, 1))
ANEW = "the system prompt differs from the one sent before"
SELECTIONS = f"""\
agent: a
tools: {{instructions: t.yaml, core: [tool_search]}}
layout: {{heading: "# {{{{title}}}}\\n"}}
sections:
  - {{id: role, title: Role, text: Help.}}
  - {{id: instructions, title: Instructions, text: "{PROTOCOLS}"}}
  - {{id: usage, title: Usage, text: "{PROTOCOLS}"}}
profiles: {{one: {{exclude: [usage]}}, other: {{exclude: [instructions]}}}}
variants: {{yours: {{sections: [{{id: role, title: Your role}}]}}}}
"""


def go_on(before: Engine, after: Engine) -> tuple[Step, Call]:
    """The first step of a second call, by another engine, after one in which a search found a tool."""
    history = [ToolResult("tool_search", {"tools": ["t_1"]}, "call-0")]
    call = after.prepare_call(Turn(now=NOW), history, previous=before.prepare_call(Turn(now=NOW)))
    return after.prepare_step(call, history), call


def cuts(step: Step) -> list[str]:
    return [cut.reason for cut in step.manifest.cuts if cut.what == "baseline"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (FIRST, replace(FIRST, tools=(2, 1, 0, -1))),
        (FIRST, replace(FIRST, role=1, delivery="frozen")),
        (replace(FIRST, delivery="rewrite"), replace(FIRST, role=1, delivery="rewrite")),
    ],
)
def test_changed_files_make_a_new_system_prompt_and_the_manifest_says_so(before: Edition, after: Edition) -> None:
    step, call = go_on(before.engine, after.engine)

    assert cuts(step) == [f"the configuration changed: {ANEW}"]
    assert call.prompt.segments == after.engine.prepare_call(Turn(now=NOW)).prompt.segments
    assert call.prompt.sent == ()
    assert f"Role {after.role}." in step.system
    assert "t_1" in step.active_tools


def test_where_a_profile_moves_instructions_all_known_ones_are_repeated_there(tmp_path: Path) -> None:
    engine = opened(tmp_path, SELECTIONS, t_yaml=TOOLS, delivery="append")
    history = [search("get_page")]
    first = engine.prepare_call(Turn(profile="one"))
    second = engine.prepare_call(Turn(profile="other"), history, previous=first)
    (news,) = (block.text for block in engine.prepare_step(second, history).appended[1:])
    without = engine.prepare_call(Turn(profile="other", tools=("tool_search",)), history, previous=first)

    assert news.startswith('<context-update turn="2">\n# Usage\n')
    assert [news.count(f"<{tool}>") for tool in ("tool_search", "get_page", "put_page")] == [1, 1, 0]
    assert "<withdrawn-sections>\nInstructions\n</withdrawn-sections>" in news
    assert without.tools.told == {"tool_search": second.tools.told["tool_search"], "get_page": ""}


def test_another_heading_is_another_text(tmp_path: Path) -> None:
    engine = opened(tmp_path, SELECTIONS, t_yaml=TOOLS, delivery="append")
    first = engine.prepare_call(Turn(profile="one"))
    second = engine.prepare_call(Turn(profile="one", variant="yours"), previous=first)

    assert [block.text for block in second.prompt.sent] == [
        '<context-update turn="2">\n# Your role\nHelp.\n</context-update>\n'
    ]


# ---- `reload: append`, which was removed


def test_a_turn_under_the_removed_policy_is_refused_with_the_way_out() -> None:
    removed: Any = "append"
    with pytest.raises(InputError) as caught:
        FIRST.engine.prepare_call(Turn(now=NOW, reload=removed))

    assert [(problem.code, problem.message) for problem in caught.value.problems] == [
        ("removed-setting", "`turn.reload` can no longer be `append`")
    ]
    assert "`next-call`" in caught.value.problems[0].hint


def test_an_agent_file_under_the_removed_policy_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="write `next-call`") as caught:
        opened(tmp_path, f"{SELECTIONS}reload: append\n", t_yaml=TOOLS)

    assert [problem.code for problem in caught.value.problems] == ["removed-setting"]


def test_a_call_under_the_removed_policy_goes_on_with_a_named_baseline() -> None:
    call = FIRST.engine.prepare_call(Turn(now=NOW))
    data = call.to_json()
    data["configuration"]["reload"] = "append"
    before = Call.from_json(json.loads(json.dumps(data)))
    after = FIRST.engine.prepare_call(Turn(now=NOW), previous=before)

    assert before.to_json() == data
    assert cuts(FIRST.engine.prepare_step(after)) == [
        f"the conversation was made under `reload: append`, which was removed, and goes on under `next-call`: {ANEW}"
    ]
    assert cuts(FIRST.engine.prepare_step(FIRST.engine.prepare_call(Turn(now=NOW), previous=after))) == []
