"""The bodies of a request on the Prompt screen: what the adapters make, of a turn and of a recording."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from cuecard import Engine, ToolResult
from cuecard.adapters import anthropic
from cuecard.adapters.function_tools import definitions, search_card
from cuecard.studio.body_view import FORMS, UNSAID
from studio.in_process import Visit, copied, visiting, words


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with visiting(copied(tmp_path_factory.mktemp("bodies"))) as visit:
        yield visit


@pytest.fixture(scope="module")
def run(visit: Visit) -> str:
    (found,) = visit.page("/prompt").xpath("//select[@name='run']/option[contains(., 'append')]/@value")
    return str(found)


def body(visit: Visit, told: str) -> Any:
    (text,) = visit.page(f"/prompt?{told}").xpath("//pre[@aria-label='The body as JSON']")
    return json.loads(text.text_content())


def test_a_turn_has_the_body_of_the_adapter(visit: Visit) -> None:
    engine = Engine.open(visit.agents.paths["cms"])
    found = {"tools": ["cms_listPosts"]}
    step = engine.prepare_step(engine.prepare_call(), [ToolResult("tool_search", found, "search-1")])
    use = {"type": "tool_use", "id": "search-1", "name": "tool_search", "input": {}}
    text = engine.render_result(ToolResult("tool_search", found, "search-1")).text
    messages: list[dict[str, object]] = [
        {"role": "user", "content": UNSAID},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "search-1", "content": text}]},
    ]
    cards = [search_card(engine) if name == "tool_search" else card for name, card in engine.tools.items()]
    tools = definitions(cards, "anthropic")
    wanted = anthropic.request(step, messages, model="claude-opus-5", tools=tools, defer=True)

    assert body(visit, "found=cms_listPosts&form=anthropic") == wanted


def test_each_provider_gets_the_words_of_the_recording_and_the_prompt(visit: Visit, run: str) -> None:
    for form in FORMS:
        made = json.dumps(body(visit, f"run={run}&step=2.3&form={form}"), ensure_ascii=False)
        assert "content management system" in made, form
        assert "GOTCHA:" in made, form
        assert "tool_search" in made, form


def test_a_step_only_adds_to_the_one_before_it(visit: Visit, run: str) -> None:
    places = ["1.3", "1.4", "2.1", "2.3", "4.2"]
    contents = [body(visit, f"run={run}&step={place}&form=gemini")["contents"] for place in places]

    for before, after in pairwise(contents):
        assert after[: len(before)] == before


def test_tools_switched_by_hand_are_in_the_body(visit: Visit, run: str) -> None:
    made = body(visit, f"run={run}&step=2.3&by=hand&found=cms_getNavigation&form=gemini")

    assert "AFTER: Show labels in order, hidden ones marked" in json.dumps(made, ensure_ascii=False)
    assert "cms_createPost>" not in json.dumps(made, ensure_ascii=False)


def test_what_stands_for_what_is_not_known_is_said(visit: Visit) -> None:
    told = " ".join(words(visit.page("/prompt?form=chat"), "//section[@aria-labelledby='bd']/p"))
    assert "The turn has no message: a placeholder stands for it." in told
    assert "tools have no schema here" in told
