"""The Switches screen: what is found and what it costs, searches, NEXT, budgets, what is written, and bad addresses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from cuecard import Engine, ToolResult
from cuecard.config.documents.yaml import read_yaml
from studio.in_process import Visit, answer, copied, visiting, words

SMALL = """agent: small
tools:
  instructions: tools.yaml
sections:
  - id: found
    text: "{{{activeProtocols}}}"
"""
TOOLS = """# the tools
tools:
  first:
    next: second
    after: Say it.
  second:
    gotcha: "Quoted, as it was."
"""


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with visiting(copied(tmp_path_factory.mktemp("switches"))) as visit:
        yield visit


@pytest.fixture
def small(tmp_path: Path) -> Iterator[tuple[Visit, Path]]:
    """A visit of an agent with two tools, and its folder."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "agent.yaml").write_text(SMALL)
    (folder / "tools.yaml").write_text(TOOLS)
    with visiting(tmp_path, ["small"]) as visit:
        yield visit, folder


def switched_on(page: Any) -> list[str]:
    return [str(each) for each in page.xpath("//input[@role='switch'][@checked][not(@disabled)]/@data-tool")]


def step(visit: Visit, place: str) -> str:
    """The address of a step of the recording under append."""
    (run,) = visit.page("/prompt").xpath("//select[@name='run']/option[contains(., 'append')]/@value")
    return f"run={run}&step={place}"


def post(visit: Visit, address: str, form: dict[str, str], status: int = 200) -> tuple[Any, str]:
    """The page after something was written, and what the person is told."""
    answered = visit.client.post(address, data=form, headers={"x-cuecard": visit.keys.write})
    assert answered.status_code == status, answered.text
    told = json.loads(answered.headers.get("hx-trigger-after-settle", '{"told": {"value": ""}}'))
    return html.document_fromstring(answered.text), told["told"]["value"]


def test_a_step_shows_what_it_has_found_and_what_that_costs(visit: Visit) -> None:
    page = visit.page(f"/switches?{step(visit, '2.3')}")

    assert answer(page) == "10 of 45 tools are found; their instructions cost 744 of the 2,000 tokens allowed."
    assert switched_on(page)[0] == "cms_createPost"
    assert len(switched_on(page)) == 10
    assert words(page, "//ol[@class='goes']/li")[0] == "pexels_downloadPhotobelow 744"


def test_what_is_found_is_in_the_address_in_order_and_the_prompt_is_the_engines(visit: Visit) -> None:
    found = ["cms_listPosts", "cms_getPage"]
    page = visit.page(f"/switches?by=hand&found={','.join(found)}")

    engine = Engine.open(visit.agents.paths["cms"])
    made = engine.prepare_step(engine.prepare_call(), [ToolResult("tool_search", {"tools": found}, "search-1")])
    assert switched_on(page) == found
    assert words(page, "//h2[@id='pn']/following-sibling::span/b") == [f"{made.manifest.total_tokens:,}"]
    assert [each.text_content() for each in page.xpath("//aside//pre")] == [each.text for each in made.appended]


def test_all_off_is_not_what_the_step_had(visit: Visit) -> None:
    page = visit.page(f"/switches?{step(visit, '2.3')}")
    (off,) = page.xpath("//a[@id='all-off']/@href")

    assert answer(visit.page(off)).startswith("None of the 45 tools is found yet")


def test_the_prompt_screen_shows_the_same_prompt(visit: Visit) -> None:
    page = visit.page(f"/switches?{step(visit, '2.3')}&by=hand&found=cms_getPage")
    (there,) = page.xpath("//a[.='Open as a prompt']/@href")

    (tokens,) = words(page, "//h2[@id='pn']/following-sibling::span/b")

    prompt = visit.page(there)
    assert words(prompt, "//dl[@class='figures']/div[1]/dd") == [f"{tokens} tokens"]
    assert words(prompt, "//h1") == ["What the model would read in step 2.3 with these tools and budgets"]
    assert "cms_getPage" in " ".join(words(prompt, "//details[contains(@class, 'sec')]"))


def test_a_search_answers_as_the_model_is_answered(visit: Visit) -> None:
    led = visit.client.get("/switches/search", params={"query": "list blog posts"}).headers["location"]
    page = visit.page(led)

    told = Engine.open(visit.agents.paths["cms"]).explain_search("list blog posts")
    scores = words(page, "//ol[@class='score']/li[not(@class='cutline')]/span[1]")
    assert switched_on(page) == [each.tool for each in told.ranked if each.returned]
    assert scores == [f"{each.score:.2f}" for each in told.ranked]
    assert words(page, "//li[@class='cutline']") == ["limit of 8: what follows is not returned"]


def test_a_miss_shows_what_the_model_reads_and_what_there_is(visit: Visit) -> None:
    page = visit.page("/switches?query=zzqq")

    told = Engine.open(visit.agents.paths["cms"]).search_tools("zzqq")
    assert told.message in words(page, "//pre[@aria-label='What the search tool answers']")
    assert words(page, "//section[@aria-labelledby='sr']//dt") == [*told.categories]
    assert "tool_search" not in page.xpath("//select[@id='to']/option/@value")


def test_next_is_a_drawing_and_a_list_whose_links_find(visit: Visit) -> None:
    page = visit.page("/switches?by=hand&found=cms_createPost")

    drawn = {
        each.get("id").removeprefix("n-"): each.get("href") for each in page.xpath("//*[contains(@class, 'node')]")
    }
    listed = {each.text: each.get("href") for each in page.xpath("//ul[@class='nexts']//a")}
    assert listed == drawn
    assert switched_on(visit.page(listed["cms_publishPost"])) == ["cms_createPost", "cms_publishPost"]
    (root,) = visit.page("/switches?by=hand&found=").xpath("//ul[@class='nexts']/li[1]/a[1]")
    assert switched_on(visit.page(root.get("href"))) == [root.text]


def test_a_budget_says_what_has_no_room_and_what_goes_first(visit: Visit) -> None:
    told = "by=hand&found=cms_listPosts,cms_createPost&protocols=100"
    page, part = visit.page(f"/switches?{told}"), visit.page(f"/switches/fits?{told}")

    assert answer(page).endswith("cost 74 of the 100 tokens allowed; 1 has no room.")
    assert words(part, "//*[@id='fits-protocols']//li") == ["cms_listPostsbelow 74", "cms_createPost87 tokens"]
    assert words(page, "//*[@id='fits-protocols']//li") == words(part, "//*[@id='fits-protocols']//li")


def test_the_words_of_a_search_become_a_phrase_and_the_rest_of_the_file_stays(small: tuple[Visit, Path]) -> None:
    visit, folder = small
    _, told = post(visit, "/switches/phrase?query=do+the+thing", {"to": "second"})
    _, again = post(visit, "/switches/phrase?query=do+the+thing", {"to": "second"})

    after = (folder / "tools.yaml").read_text()
    assert told.startswith("“do the thing” is now a phrase of second")
    assert again.startswith("“do the thing” is already a phrase of second")
    assert read_yaml(after, "").value["tools"]["second"]["phrases"] in ("do the thing", ["do the thing"])
    assert [line for line in after.splitlines() if "phrases" not in line and "do the thing" not in line] == [
        *TOOLS.splitlines()
    ]


def test_a_budget_is_written_only_by_its_button(small: tuple[Visit, Path]) -> None:
    visit, folder = small
    visit.page("/switches?protocols=120")
    assert (folder / "agent.yaml").read_text() == SMALL

    _, told = post(visit, "/switches/budget?protocols=120", {"name": "protocols"})
    assert told.startswith("budget.protocols is now 120 tokens")
    assert read_yaml((folder / "agent.yaml").read_text(), "").value["budget"] == {"protocols": 120}


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda file: file.write_text("tools: [\n"), "expected"),
        (lambda file: file.unlink(), "second"),
        (lambda file: file.chmod(0o400), "read-only"),
        (lambda file: file.write_text("tools:\n  first: {after: Say it.}\n"), "second"),
        (lambda file: file.write_text("tools:\n  second: &one {after: x}\n  first: *one\n"), ""),
    ],
    ids=["invalid", "removed", "read-only", "renamed", "anchor"],
)
def test_a_phrase_is_not_written_into_a_file_that_is_not_fit(small: tuple[Visit, Path], damage: Any, said: str) -> None:
    visit, folder = small
    file = folder / "tools.yaml"
    damage(file)
    before = file.read_bytes() if file.exists() else None

    page, told = post(visit, "/switches/phrase?query=do+it", {"to": "second"}, 422)
    assert not told
    assert said in " ".join(words(page, "//article[contains(@class, 'problem')]"))
    assert (file.read_bytes() if file.exists() else None) == before


def test_nobody_writes_without_a_page_of_the_studio(small: tuple[Visit, Path]) -> None:
    visit, folder = small
    for address in ("/switches/phrase?query=x", "/switches/budget?protocols=5"):
        assert visit.client.post(address, data={"to": "second", "name": "protocols"}).status_code == 403
    assert (folder / "tools.yaml").read_text() == TOOLS


def test_names_that_are_no_tools_are_said_and_can_be_left_out(visit: Visit) -> None:
    page = visit.page("/switches?by=hand&found=cms_getPage,nope&node=neither")

    assert words(page, "//p[contains(@class, 'warn')]/code") == ["nope", "neither"]
    (way,) = page.xpath("//a[.='Leave them out']/@href")
    assert not visit.page(way).xpath("//p[contains(@class, 'say warn')]")


@pytest.mark.parametrize("told", ["protocols=-5", "protocols=1e9", "total=12345678901", "by=foot", "form=fax"])
def test_values_that_are_none_are_named(visit: Visit, told: str) -> None:
    page = visit.page(f"/switches?{told}", 422)
    assert told.partition("=")[0] in " ".join(words(page, "//article"))


@pytest.mark.parametrize("told", ["protocols=0", "protocols=999999999", "total=1", "total=0&protocols=1"])
def test_budgets_may_be_absurd(visit: Visit, told: str) -> None:
    assert "1 of 45 tools is found" in answer(visit.page(f"/switches?by=hand&found=cms_getPage&{told}"))


def test_an_agent_without_tools_search_or_next_says_so(tmp_path: Path) -> None:
    for name, tools in {"bare": "", "core": "tools: {instructions: tools.yaml, core: [first]}\n"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "agent.yaml").write_text(f"agent: {name}\n{tools}sections:\n  - {{id: a, text: Hello.}}\n")
        (tmp_path / name / "tools.yaml").write_text("tools:\n  first: {after: Say it.}\n")
    with visiting(tmp_path, ["bare", "core"]) as visit:
        assert answer(visit.page("/switches?agent=bare")).startswith("This agent has no tools")
        page = visit.page("/switches?agent=core")
        assert answer(page) == "The one tool of this agent is always on; nothing is left to be found."
        assert not page.xpath("//input[@name='query']")
        assert visit.client.get("/switches/search?agent=core&query=anything").status_code == 303


def test_a_tool_behind_a_closed_gate_says_why_it_is_not_there(small: tuple[Visit, Path]) -> None:
    visit, folder = small
    gate = "  core: [third]\n  visibility: {harness: {night: [second, third]}}\n"
    (folder / "agent.yaml").write_text(SMALL.replace("sections:", gate + "sections:"))
    (folder / "tools.yaml").write_text(TOOLS + "  third: {after: Sleep.}\n")
    visit.agents._take("small")
    page = visit.page("/switches?by=hand&found=first,second&query=second")

    assert answer(page).startswith("2 of 2 tools are found; ")
    assert answer(page).endswith("; 1 does not exist here.")
    (told,) = words(page, "//main//p[@class='say'][contains(., 'does not have')]")
    assert "The model does not have third, second: a harness tool of runs with night." in told
    assert words(page, "//*[@class='switches']//*[contains(@class, 'warn')]") == ["✂ not here"] * 2
    assert page.xpath("//input[@role='switch'][@checked]/@data-tool") == ["tool_search", "first", "second"]
    assert words(page, "//*[@class='score']/li[not(@class)]//*[contains(@class, 'nb')]") == ["✂ not here"]
    for tool in ("second", "third"):
        told = "The model does not have this tool in the turn that is shown: a harness tool of runs with night."
        assert answer(visit.page(f"/editor?tool={tool}")) == told

    (folder / "agent.yaml").write_text(SMALL.replace("sections:", gate.replace("[third]", "all") + "sections:"))
    visit.agents._take("small")
    assert answer(visit.page("/switches")) == "1 of 3 tools is on; nothing is left to be found."


def test_a_broken_agent_keeps_its_switches_and_one_that_never_worked_says_so(small: tuple[Visit, Path]) -> None:
    visit, folder = small
    visit.page("/switches")
    (folder / "agent.yaml").write_text(SMALL + "nonsense: true\n")
    visit.agents._take("small")

    page = visit.page("/switches?by=hand&found=first")
    assert answer(page).startswith("1 of 2 tools is found")
    assert "nonsense" in " ".join(words(page, "//article"))


def test_of_very_many_tools_two_hundred_stand_in_the_page_and_a_filter_finds_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    rows = "".join(f"  tool_{number}: {{after: Say {number}.}}\n" for number in range(1_000))
    (folder / "tools.yaml").write_text(f"tools:\n{rows}")
    (folder / "agent.yaml").write_text(SMALL.replace("small", "many"))
    with visiting(tmp_path, ["many"]) as visit:
        page, filtered = visit.page("/switches"), visit.page("/switches?q=L_99")
        everything = visit.page("/switches?by=hand&found=" + ",".join(f"tool_{number}" for number in range(1_000)))

    assert len(page.xpath("//input[@role='switch'][@data-tool!='tool_search']")) == 200
    assert "800 more: filter by a part of the name." in words(page, "//div[@id='off']/p")
    assert len(filtered.xpath("//div[@id='off']//input")) == 11
    assert len(switched_on(everything)) == 1_000
