"""Who asks, presses or writes while an answer is on its way loses nothing: what was asked for last is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from studio.served import ServedStudio

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


class Held:
    """Requests of a kind, which go on when the test says so."""

    def __init__(self, page: Page, path: str) -> None:
        self.page = page
        self.routes: list[Route] = []
        page.route(re.compile(rf"/{path}\?"), self._keep)

    def _keep(self, route: Route) -> None:
        self.routes.append(route)

    def wait(self, number: int = 1, told: str = "") -> None:
        """Until so many have come, and the last one brings these words."""
        for _ in range(1_200):
            if len(self.routes) >= number and told in (self.routes[-1].request.post_data or ""):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"{len(self.routes)} have come")

    def answer(self, at: int = -1) -> None:
        """Let one go on, and wait for the end of its answer."""
        with self.page.expect_event("requestfinished"):
            self.routes[at].continue_()


@pytest.fixture
def core(studio: ServedStudio) -> Iterator[Path]:
    """The template of the CMS assistant; afterwards it is as it was."""
    path = studio.folder / "prompts" / "cms" / "agent.xml"
    before = path.read_text(encoding="utf-8")
    yield path
    path.write_text(before, encoding="utf-8")


def add(path: Path, line: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace("</identity>", f"\n{line}</identity>"), encoding="utf-8")


@pytest.fixture
def switches(page: Page, studio: ServedStudio) -> Page:
    """The Switches screen with two tools that are found."""
    page.goto(f"{studio.url}switches?agent=cms&by=hand&found=cms_getPage,cms_getPost")
    expect(page.locator(".say.first")).to_contain_text("2 of 45 tools are found")
    return page


def test_two_switches_that_are_pressed_at_once_are_both_heard(switches: Page) -> None:
    held = Held(switches, "switches")
    switches.locator("#s-cms_getPage").click()
    held.wait()
    switches.locator("#s-cms_getPost").click()
    held.wait(2)
    held.answer()
    expect(switches.locator(".say.first")).to_contain_text("None of the 45 tools is found yet")
    assert switches.url.endswith("found=")


def test_of_two_links_the_later_one_is_shown_and_files_are_followed(
    page: Page, studio: ServedStudio, core: Path
) -> None:
    page.goto(f"{studio.url}timeline?agent=cms")
    held = Held(page, "inputs")
    page.get_by_role("link", name="Inputs", exact=True).click()
    held.wait()
    page.get_by_role("link", name="Prompt", exact=True).click()
    page.wait_for_url("**/prompt?*")
    add(core, "A line that was written later.")
    expect(page.locator("#main")).to_contain_text("A line that was written later.")


@pytest.mark.parametrize("first", ["the answer", "the link"])
def test_a_write_is_said_on_the_screen_that_was_asked_for_meanwhile(
    page: Page, studio: ServedStudio, first: str
) -> None:
    agent = studio.folder / "prompts" / "cms" / "agent.yaml"
    before = agent.read_text(encoding="utf-8")
    page.goto(f"{studio.url}switches?agent=cms&protocols=700")
    write, link = Held(page, "switches/budget"), Held(page, "timeline")
    page.get_by_role("button", name=re.compile(r"Write to agent\.yaml:\d+")).first.click()
    write.wait()
    page.get_by_role("link", name="Timeline", exact=True).click()
    link.wait()
    for each in (write, link) if first == "the answer" else (link, write):
        each.answer()
    expect(page.locator("#toast")).to_contain_text("budget.protocols is now 700 tokens")
    expect(page.locator("h1")).to_have_text("Which conversation")
    assert "/timeline?" in page.url
    assert agent.read_text(encoding="utf-8") == before.replace("protocols: 2000", "protocols: 700")
    agent.write_text(before, encoding="utf-8")


def test_what_is_pressed_is_not_taken_from_under_the_mouse(switches: Page) -> None:
    held = Held(switches, "switches")
    switches.locator("#s-cms_getPage").click()
    held.wait()
    switches.locator("#all-off").hover()
    switches.mouse.down()
    held.answer()
    switches.mouse.up()
    held.wait(2)
    held.answer()
    expect(switches.locator(".say.first")).to_contain_text("None of the 45 tools is found yet")


def test_an_answer_that_waited_for_the_mouse_comes_with_its_release(switches: Page) -> None:
    held = Held(switches, "switches")
    switches.locator("#s-cms_getPage").click()
    held.wait()
    switches.locator("h1").hover()
    switches.mouse.down()
    held.answer()
    expect(switches.locator(".say.first")).to_contain_text("2 of 45 tools are found")
    switches.mouse.up()
    expect(switches.locator(".say.first")).to_contain_text("1 of 45 tools is found")


def test_words_that_are_written_while_an_answer_is_on_its_way_stay(switches: Page) -> None:
    held = Held(switches, "switches")
    switches.locator("#s-cms_getPage").click()
    held.wait()
    switches.locator("#q").focus()
    switches.keyboard.type("half a wo")
    held.answer()
    expect(switches.locator(".say.first")).to_contain_text("1 of 45 tools is found")
    switches.keyboard.type("rd")
    expect(switches.locator("#q")).to_have_value("half a word")


def test_a_button_that_is_pressed_right_after_a_word_is_heard(page: Page, studio: ServedStudio) -> None:
    page.goto(f"{studio.url}inputs?agent=mistermorph")
    held = Held(page, "inputs")
    page.locator("#m-0-name").fill("Home")
    page.get_by_role("button", name="Add an entity").click()
    held.wait(told="do=")
    page.get_by_label("message", exact=True).fill("and more")
    held.answer()
    expect(page.locator("#m-1-name")).to_be_visible()
    expect(page.get_by_label("message", exact=True)).to_have_value("and more")
    expect(page.locator("#m-0-name")).to_have_value("Home")


def test_a_file_that_is_saved_while_it_is_shown_anew_is_shown_again(
    page: Page, studio: ServedStudio, core: Path
) -> None:
    page.goto(f"{studio.url}prompt?agent=cms")
    other = page.context.new_page()
    other.goto(page.url)
    held = Held(page, "prompt")
    add(core, "The first line.")
    held.wait()
    made = held.routes[0].fetch()
    add(core, "The second line.")
    expect(other.locator("#main")).to_contain_text("The second line.")  # now both tabs have been told
    held.routes[0].fulfill(response=made)
    expect(page.locator("#main")).to_contain_text("The first line.")
    held.wait(2)
    held.answer()
    expect(page.locator("#main")).to_contain_text("The second line.")


def test_an_action_that_is_pressed_before_the_last_one_is_answered_comes_after_it(
    page: Page, studio: ServedStudio
) -> None:
    page.goto(f"{studio.url}inputs?agent=mistermorph")
    page.locator("#m-0-name").fill("Home")
    expect(page.locator("#answer")).to_contain_text("The prompt has")
    held = Held(page, "inputs")
    button = page.get_by_role("button", name="Add an entity")
    button.click()
    held.wait(told="do=")
    first = len(held.routes)
    button.hover()
    page.mouse.down()
    held.answer()
    page.mouse.up()
    held.wait(first + 1)
    held.answer()
    expect(page.locator("#m-1-name")).to_be_visible()
    expect(page.locator("#m-0-name")).to_have_value("Home")


def test_two_actions_that_are_pressed_at_once_are_both_done(page: Page, studio: ServedStudio) -> None:
    page.goto(f"{studio.url}inputs?agent=mistermorph")
    page.locator("#m-0-name").fill("Home")
    expect(page.locator("#answer")).to_contain_text("The prompt has")
    held = Held(page, "inputs")
    page.get_by_role("button", name="Add an entity").click()
    held.wait(told="do=")
    page.get_by_role("button", name="Leave some out").click()
    page.wait_for_timeout(500)
    assert len([each for each in held.routes if "do=" in (each.request.post_data or "")]) == 1
    held.answer()
    held.wait(told="some-tools")
    held.answer()
    expect(page.get_by_role("button", name="All of them")).to_be_visible()
    expect(page.locator("#m-1-name")).to_be_visible()
    expect(page.locator("#m-0-name")).to_have_value("Home")


@pytest.mark.parametrize(
    ("screen", "asks", "field", "shown"),
    [
        ("inputs?agent=mistermorph", "inputs", "#t-message", "#beside"),
        ("editor?agent=cms&tool=cms_getPage", "editor", "#f-before", "#beside"),
        ("editor?agent=cms&tool=cms_getPage", "editor/tried", "#words", "#tried"),
    ],
)
def test_an_answer_is_shown_and_what_was_written_meanwhile_is_asked_for_then(
    page: Page, studio: ServedStudio, screen: str, asks: str, field: str, shown: str
) -> None:
    page.goto(f"{studio.url}{screen}")
    held = Held(page, asks)
    at = page.locator(field)
    at.fill("first")
    held.wait()
    first = len(held.routes)
    at.fill("second")
    at.fill("third")
    page.wait_for_timeout(700)
    assert len(held.routes) == first
    held.answer()
    held.wait(first + 1, "third")
    held.answer()
    expect(page.locator(shown)).not_to_be_empty()
    expect(at).to_have_value("third")
