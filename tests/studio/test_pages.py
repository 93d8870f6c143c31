"""The first page and the Prompt screen: what they say, and that they say it of the prompt that was sent."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuecard import Engine
from studio.in_process import Visit, answer, copied, visiting, words


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def visit(folder: Path) -> Iterator[Visit]:
    with visiting(folder) as visit:
        yield visit


def run_of(visit: Visit, title: str) -> str:
    (found,) = visit.page("/prompt").xpath(f"//select[@name='run']/option[contains(., '{title}')]/@value")
    return str(found)


def texts(page: object, where: str = "//details[contains(@class, 'sec')]") -> dict[str, str]:
    rows = page.xpath(where)  # type: ignore[attr-defined]  # an lxml element
    return {
        row.get("id").removeprefix("s-"): row.xpath(".//pre")[0].text_content() for row in rows if row.xpath(".//pre")
    }


def test_the_first_page_says_what_the_agent_is(visit: Visit) -> None:
    page = visit.page("/")

    told = answer(page)
    begin = "It has 48 tools, and its prompt begins with 1,356 tokens."
    assert told == f"{begin} Instructions enter when the model finds a tool."
    assert len(page.xpath("//ol[contains(@class, 'try')]/li")) == 3
    assert "4,588" in " ".join(words(page, "//ol[@class='grow-list']/li"))


def test_the_bar_leads_to_every_screen(visit: Visit) -> None:
    bar = visit.page("/").xpath("//nav[@class='screens']/a")

    assert [each.text for each in bar] == ["Prompt", "Timeline", "Switches", "Inputs", "Price", "Editor"]
    for each in bar:
        assert words(visit.page(each.get("href")), "//nav[@class='screens']/a[@aria-current]") == [each.text]


def test_a_search_on_the_first_page_leads_to_the_prompt_with_what_it_finds(visit: Visit) -> None:
    found = visit.client.get("/search", params={"query": "attach an image"})
    page = visit.page(found.headers["location"])

    engine = Engine.open(visit.agents.paths["cms"])
    tools = engine.search_tools("attach an image").tools
    assert found.status_code == 303
    assert words(page, "//h1") == ["What the model reads once a search has found one tool"]
    assert len(tools) == 1
    assert all(f"<{tool}>" in "".join(texts(page).values()) for tool in tools)


def test_a_search_that_finds_nothing_says_so(visit: Visit) -> None:
    page = visit.page("/search?query=zzqx", 422)

    assert answer(page) == "no tool fits the words “zzqx”"


def test_the_texts_are_those_that_are_sent(visit: Visit) -> None:
    engine = Engine.open(visit.agents.paths["cms"])
    step = engine.prepare_step(engine.prepare_call())

    shown = texts(visit.page("/prompt"))

    sent = {
        each.id: each.text for each in step.segments if each.id.strip("/") != "agent" and each.id != "current-datetime"
    }
    assert {name: shown[name] for name in sent} == sent


def test_a_step_is_answered_in_one_sentence(visit: Visit) -> None:
    page = visit.page(f"/prompt?run={run_of(visit, 'append')}&step=2.3")

    assert words(page, "//h1") == ["What the model read in step 3 of turn 2"]
    assert answer(page) == "The system prompt as before, and five texts after it. Two tools entered here; nothing left."
    figures = words(page, "//dl[@class='figures']//dd")
    assert figures == ["2,228 tokens", "4,258 tokens", "89.1 %", "1,068", "5,432 5.1 ×"]
    legend = words(page, "//figcaption")[0]
    assert "read from the cache 3,795" in legend
    assert "4 of 4 breakpoints" in legend
    assert "Nothing sent before has changed. First new text: pexels_searchPhotos" in legend


def test_what_entered_stands_open_and_what_was_there_is_folded(visit: Visit) -> None:
    page = visit.page(f"/prompt?run={run_of(visit, 'append')}&step=2.3")

    opened = words(page, "//details[contains(@class, 'sec')][@open]/summary//code")
    assert opened == ["pexels_searchPhotos", "pexels_downloadPhoto"]
    assert "unchanged since step 1.1" in words(page, "//h2[@id='g1']")[0]


def test_what_was_left_out_stands_where_it_would_have_stood(visit: Visit) -> None:
    page = visit.page(f"/prompt?run={run_of(visit, 'append')}&step=2.3")

    (cut,) = page.xpath("//div[@class='cutrow']")
    told = " ".join(cut.text_content().split())
    assert "memory post post-2, memory post post-1: more than memory.per_type, which is 3" in told
    assert told.endswith("Change it in agent.yaml:10")
    before = cut.getprevious()
    assert "working-memory" in before.text_content()
    assert cut.xpath(".//a/@href")[0].endswith("/prompts/cms/agent.yaml:10:1")


def test_a_section_that_its_budget_cuts_is_not_left_out_and_cuts_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        'agent: shop\ninputs: {x: {default: ""}, y: {default: ""}}\nsections:\n'
        '- {id: long, budget: 6, text: "One two three.\\nFour five six seven."}\n'
        "- {id: first, when: x, text: One.}\n- {id: second, when: y, text: Two.}\n"
    )
    with visiting(tmp_path, ["."]) as visit:
        cuts = words(visit.page("/prompt"), "//div[@class='cutrow']/span")
        assert cuts == ["long: its end, over its budget of 6 tokens (5 tokens)", "first: when: x", "second: when: y"]
        assert answer(visit.page("/inputs")).endswith("2 sections and 1 part are left out.")
        told = answer(visit.page("/editor?section=long"))
        assert told.startswith("✓ The model reads this section in every request")
        assert told.endswith("left out is its end, over its budget of 6 tokens.")


def test_a_text_of_one_turn_that_has_ended_is_said_to_be_gone(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        'agent: shop\ninputs: {note: {default: "", lifetime: turn}}\n'
        'sections: [{id: role, text: Help.}, {id: news, when: note, text: "{{{note}}}"}]\n'
    )
    (tmp_path / "recordings").mkdir()
    turns = [{"user": note, "inputs": {"note": note}, "requests": [{"text": "Good."}]} for note in ("Closed.", "")]
    (tmp_path / "recordings" / "talk.json").write_text(json.dumps({"turns": turns}))
    with visiting(tmp_path, ["."]) as visit:
        page = visit.page(f"/timeline?run={run_of(visit, 'append')}&step=2.1")
    assert answer(page).startswith("✕ The appended text news left")
    assert (
        "It stands in the conversation, and was for one turn or request alone."
        in words(page, "//main//p[@class='say']")[0]
    )


def test_words_that_the_first_page_offers_find_something(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        'agent: shop\ntools: {instructions: tools.yaml}\nsections: [{id: tools, text: "{{{activeProtocols}}}"}]\n'
    )
    (tmp_path / "tools.yaml").write_text(
        "tools:\n  tool_search: {description: Find tools, before: Ask}\n"
        "  mail: {description: Send mail, phrases: [send mail], before: Ask}\n"
    )
    with visiting(tmp_path, ["."]) as visit:
        offered = visit.page("/").xpath("//main//p/a[starts-with(@href, '/search')]")
        assert [each.text for each in offered] == ["send mail"]


def test_rows_stand_in_the_order_in_which_the_model_reads(visit: Visit) -> None:
    page = visit.page(f"/prompt?run={run_of(visit, 'append')}&step=2.3")

    names = words(page, "//section[@aria-labelledby='g2']//*[contains(@class, 'sec')]//span[@class='name']")
    assert [name.split()[0][:14] for name in names][:6] == [
        "user“Write",
        "assistantackno",
        "cms_createPost",
        "cms_listPostsa",
        "assistantcms_l",
        "user“A",
    ]
    assert "cms_createPostafter the result of “create blog post”" in [name.replace("  ", " ") for name in names]


def test_the_cache_bar_is_that_of_the_model(visit: Visit) -> None:
    run = run_of(visit, "append")

    opus, gpt = (
        words(visit.page(f"/prompt?run={run}&step=2.3&model={model}"), "//figcaption")[0]
        for model in ("claude-opus-5", "gpt-5.6")
    )

    assert "breakpoints" in opus
    assert opus != gpt


def test_a_break_is_named_where_the_prompt_is_rebuilt(visit: Visit) -> None:
    run = run_of(visit, "rewrite")
    page = visit.page(f"/prompt?run={run}&step=2.1")

    assert "Another system prompt than before" in answer(page)
    legend = words(page, "//figcaption")[0]
    assert "Something that was sent before has changed. First changed text: working-memory" in legend
    assert "≠ changed in this step" in words(page, "//details[@id='s-working-memory']//summary")[0]


def test_the_ruler_names_what_is_marked(visit: Visit) -> None:
    page = visit.page(f"/prompt?run={run_of(visit, 'rewrite')}&step=2.1")

    names = page.xpath("//nav[@class='ruler']//a/@aria-label")
    assert any("the cache broke" in name for name in names)
    assert any("entered" in name for name in names)
    assert page.xpath("//nav[@class='ruler']//a[@aria-current='step']")[0].text_content() == "2.1"


def test_a_place_opens_the_editor(visit: Visit) -> None:
    page = visit.page("/prompt")

    link = page.xpath("//details[@id='s-react']//a[@class='editor']/@href")[0]
    assert link.startswith("vscode://file/")
    assert link.endswith("/prompts/cms/agent.xml:6:1")


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("/prompt?agent=cmss", "the studio shows no agent `cmss`"),
        ("/prompt?step=x", "a step is written as `2.3`"),
        ("/prompt?state=xyz", "a fingerprint has 8 to 64 digits"),
        ("/prompt?run=nope", "there is no conversation `nope`"),
        ("/prompt?found=a,%00", "it holds what is no name of a tool"),
        ("/prompt?agent=cms&agent=cms", "`agent` stands twice"),
        ("/prompt?stepp=2.3", "an address has no `stepp`"),
        ("/prompt?model=" + "x" * 501, "more than 500 characters"),
    ],
)
def test_a_wrong_address_says_what_is_wrong(visit: Visit, address: str, told: str) -> None:
    page = visit.page(address, 422)

    assert told in " ".join(words(page, "//main"))


def test_every_problem_of_an_address_is_said_at_once(visit: Visit) -> None:
    page = visit.page("/prompt?stepp=1&step=x&state=q", 422)

    assert len(page.xpath("//article[contains(@class, 'problem')]")) == 3


def test_blanks_around_a_revision_that_was_pasted_are_none_of_it(visit: Visit) -> None:
    (run,) = visit.page("/prompt").xpath("//select[@name='run']/option[contains(., 'append')]/@value")
    page = visit.page(f"/timeline?run={run}&step=1.3&a=%201.2%20")

    assert "sections changed" in " ".join(words(page, "//main//h2"))


def test_a_tool_that_is_not_there_is_said_on_the_screen(visit: Visit) -> None:
    page = visit.page("/prompt?found=cms_createPages")

    assert "`cms_createPages` is not a tool of this agent" in answer(page)
    assert "did you mean" in " ".join(words(page, "//article"))


def test_a_step_that_is_not_there_says_which_is_the_last(visit: Visit) -> None:
    page = visit.page(f"/prompt?run={run_of(visit, 'append')}&step=9.9", 422)

    assert "it has 16 steps, the last one is 4.2" in " ".join(words(page, "//main"))


def test_an_unknown_page_leads_back(visit: Visit) -> None:
    page = visit.page("/nothing", 404)

    assert page.xpath("//main//a/@href") == ["/"]


def test_the_first_page_is_small(visit: Visit) -> None:
    """80 KiB over the wire, with all that it loads."""
    page = visit.page("/")
    loads = [*page.xpath("//script/@src"), *page.xpath("//link/@href")]
    answers = [visit.client.get(place) for place in ("/", *loads)]

    assert len(loads) == 6
    assert all(each.status_code == 200 for each in answers)
    assert sum(len(gzip.compress(each.content, 6)) for each in answers) <= 80 * 1024
    assert visit.client.get("/", headers={"accept-encoding": "gzip"}).headers["content-encoding"] == "gzip"
