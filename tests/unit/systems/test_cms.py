"""The CMS assistant's specification beyond one prompt: what its texts ask for, their cost, how they change."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from command_line import rendered
from cuecard import Engine, Manifest, Step, ToolResult, Turn
from cuecard.types import Delivery

ROOT = Path(__file__).parents[3]
CMS = ROOT / "prompts" / "cms"
NOW = datetime(2026, 11, 20, 23, 59, tzinfo=UTC)


def system(engine: Engine) -> str:
    return engine.prepare_step(engine.prepare_call(Turn(now=NOW))).system


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.open(CMS)


@pytest.fixture(scope="module")
def everything() -> Step:
    """The prompt with the instructions of every tool."""
    engine = Engine.open(CMS, delivery="frozen")
    return engine.prepare_step(engine.prepare_call(Turn(now=NOW)))


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("identity", "You are the assistant of a content management system"),
        ("identity", "pages and their sections, blog posts, images, menus"),
        ("identity", "friendly and brief"),
        ("identity", "Ask when a guess could do harm"),
        ("react", "1. THINK:"),
        ("react", "2. ACT: Call one tool with exact ids and every required parameter."),
        ("react", "3. OBSERVE:"),
        ("react", "4. REPEAT, or finish by calling final_answer."),
        ("react", "You have up to 15 steps."),
        ("react", 'Example, with the page About Us in memory: "Put a team photo at the top of it"'),
        ("tool-discovery", "Search by CAPABILITY (what a tool does), never by the content the user talks about"),
        ("tool-discovery", 'bad: "summer sale", "About Us page for my bakery", "mountains"'),
        ("tool-discovery", "BEFORE (check first), AFTER (do or say on success), NEXT (usual follow-up), GOTCHA"),
        ("operational-knowledge", "mean the newest entity of the fitting type; take its id or slug from there"),
        ("operational-knowledge", 'ask: "Do you mean About Us or Contact?"'),
        ("operational-knowledge", "Never invent, complete or translate one"),
        ("operational-knowledge", "First the page without content (metadata and section ids), then only the section"),
        ("operational-knowledge", "Full content only when the user wants to see, copy or rework the whole page."),
        ("operational-knowledge", "1. Call without it. The result says requiresConfirmation"),
        ("operational-knowledge", "Stop and wait."),
        ("operational-knowledge", "3. After a clear yes in the user's next message, call again with confirmed:true."),
        ("operational-knowledge", "Or the same in the user's language; anything else is not a yes: ask again."),
        ("operational-knowledge", "NEVER confirm for the user"),
        ("operational-knowledge", "- validation: correct the value; if only the user knows it, ask"),
        ("operational-knowledge", "- constraint (slug or name taken): propose a variant such as about-2"),
        ("operational-knowledge", "- not found: search by name with a fuzzy search"),
        ("operational-knowledge", "- reference (no such id or field): list the valid choices"),
        ("operational-knowledge", "- transient (timeout, rate limit): try again"),
        ("operational-knowledge", "At most 2 retries per tool and 5 failures per session"),
    ],
)
def test_the_core_says_what_holds_whichever_tools_are_found(everything: Step, section: str, words: str) -> None:
    assert [segment.id for segment in everything.segments if words in segment.text] == [section]


YES = ("yes", "y", "yeah", "yep", "ok", "okay", "sure", "fine", "proceed", "go ahead", "do it", "confirm", "confirmed")
NO = ("no", "n", "nope", "cancel", "stop", "abort", "don't", "nevermind")


@pytest.mark.parametrize(("label", "words"), [("Yes", YES), ("No", NO)])
def test_the_words_for_yes_and_no_are_those_of_the_source(everything: Step, label: str, words: tuple[str, ...]) -> None:
    (said,) = re.findall(rf"{label}: (.*?)\. ", everything.system)

    assert tuple(re.findall(r'"([^"]+)"', said)) == words


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("cms_getPage", "Default is metadata and section ids"),
        ("cms_listAllImages", "Uploads appear by themselves once processed"),
        ("cms_findImage", "Lower score is better, -0.3 or less is strong"),
        ("cms_searchImages", "trust the order even without a common word"),
        ("cms_searchImages", 'Spell out short queries: "AI" ->'),
        ("cms_updateSectionImage", "imageField is the exact key of the definition"),
        ("cms_getSectionFields", "Use the keys of elementsStructure letter by letter"),
        ("cms_getSectionFields", "Never guess a key"),
        ("cms_createPost", "Starts as a DRAFT nobody sees"),
        ("cms_createPost", "featuredImage AND content.cover"),
        ("cms_publishPost", "public and listed on /posts/blog"),
        ("cms_publishPost", "Drafts and archived posts only. Needs confirmed:true"),
        ("cms_archivePost", "cms_publishPost"),
        ("cms_deletePost", "confirmed:true"),
        ("cms_addNavigationItem", "href is /pages/{slug}?locale=en (or /posts/{slug}), NEVER /{slug}"),
        ("cms_addNavigationItem", "location: header, footer or both"),
        ("cms_toggleNavigationItem", "Flips the state"),
        ("cms_deletePage", "Takes ALL its sections along, no undo. Needs confirmed:true, after a yes."),
        ("cms_deletePageSection", "confirmed:true"),
        ("cms_deletePageSections", "confirmed:true"),
        ("pexels_downloadPhoto", "pexels.com urls NEVER"),
        ("final_answer", "Show images as ![alt](local url)"),
    ],
)
def test_what_holds_for_one_tool_is_announced_with_that_tool(engine: Engine, tool: str, words: str) -> None:
    text = engine.agent.protocols[tool].text

    assert words in text
    assert (text in engine.prepare_step(engine.prepare_call(Turn(now=NOW))).system) is (tool == "final_answer")


def test_every_tool_has_the_four_parts_in_their_order(engine: Engine) -> None:
    for protocol in engine.agent.protocols.values():
        lines = [line.partition(":")[0] for line in protocol.text.splitlines()]

        assert [word for word in lines if word in {"BEFORE", "AFTER", "NEXT", "GOTCHA"}] == [
            "BEFORE",
            "AFTER",
            "NEXT",
            "GOTCHA",
        ]


def manifest(turn: str) -> Manifest:
    return rendered(CMS, CMS / "turns" / f"{turn}.yaml").manifest


def tokens(record: Manifest, section: str) -> int:
    return sum(part.tokens for part in record.sections if part.id == section)


def test_each_part_of_the_prompt_costs_about_what_the_page_plans_for() -> None:
    first, five, ten = manifest("first-step"), manifest("five-tools"), manifest("ten-tools-and-memory")
    core = tokens(first, "tool-usage-instructions")

    assert 1200 <= first.tokens.system <= 1500
    assert tokens(first, "working-memory") <= 50
    assert 100 <= tokens(ten, "working-memory") <= 200
    assert 350 <= tokens(five, "tool-usage-instructions") - core <= 450
    assert 700 <= tokens(ten, "tool-usage-instructions") - core <= 850
    assert ten.tokens.system <= 2400


def test_a_lean_core_costs_less_than_half_of_all_instructions(everything: Step) -> None:
    assert manifest("first-step").tokens.system < everything.manifest.tokens.system / 2


@pytest.mark.parametrize("delivery", ["append", "rewrite", "frozen"])
def test_the_date_is_that_of_the_call_and_not_of_the_start(delivery: Delivery) -> None:
    engine = Engine.open(CMS, delivery=delivery)
    on_the_day, after_midnight = (
        engine.prepare_step(engine.prepare_call(Turn(now=NOW + timedelta(minutes=later)))).system for later in (0, 1)
    )

    element = "<current-datetime>2026-11-{}</current-datetime>".format

    assert on_the_day.count(element(20)) == 1
    assert after_midnight == on_the_day.replace(element(20), element(21))


def test_a_new_instruction_is_one_entry_and_is_announced_once_its_tool_is_found(tmp_path: Path) -> None:
    shutil.copytree(CMS, tmp_path / "prompts" / "cms")
    shutil.copytree(ROOT / "tool_instructions" / "cms", tmp_path / "tool_instructions" / "cms")
    (tmp_path / "tool_instructions" / "cms" / "forms.yaml").write_text(
        "category: forms\n"
        "tools:\n"
        "  cms_addForm:\n"
        "    before: cms_getPage\n"
        "    after: Show the fields\n"
        "    next: None\n"
        "    gotcha: One form per page.\n",
        encoding="utf-8",
    )
    engine = Engine.open(tmp_path / "prompts" / "cms")
    call = engine.prepare_call(Turn(now=NOW))
    found = engine.prepare_step(call, [ToolResult("tool_search", {"tools": ["cms_addForm"]}, "call-1")])

    assert engine.prepare_step(call).system == system(Engine.open(CMS))
    assert found.system == system(Engine.open(CMS))
    assert found.appended[0].text == (
        "<tool-usage-instructions>\n<cms_addForm>\n"
        "BEFORE: cms_getPage\nAFTER: Show the fields\nNEXT: None\nGOTCHA: One form per page.\n"
        "</cms_addForm>\n</tool-usage-instructions>\n"
    )


def test_an_edited_core_is_in_the_next_engine_and_the_old_one_stays_unchanged(tmp_path: Path) -> None:
    shutil.copytree(CMS, tmp_path / "prompts" / "cms")
    shutil.copytree(ROOT / "tool_instructions" / "cms", tmp_path / "tool_instructions" / "cms")
    core = tmp_path / "prompts" / "cms" / "agent.xml"
    old = Engine.open(core.parent)
    before = system(old)
    core.write_text(core.read_text(encoding="utf-8").replace("friendly and brief", "brief"), encoding="utf-8")
    new = Engine.open(core.parent)

    assert before.count("Be friendly and brief,") == 1
    assert system(old) == before
    assert system(new) == before.replace("Be friendly and brief,", "Be brief,")


def test_a_search_answers_with_the_names_that_activate_tools(engine: Engine) -> None:
    call = engine.prepare_call(Turn(now=NOW))
    answer = engine.search_tools("create blog post")
    step = engine.prepare_step(call, [ToolResult("tool_search", answer.to_json(), "call-1")])

    assert answer.tools[0] == "cms_createPost"
    assert step.active_tools == ("tool_search", "final_answer", "acknowledge", *answer.tools)
    assert [discovery.tool for discovery in step.manifest.discovered] == [*answer.tools]
