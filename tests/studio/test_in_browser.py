"""Every screen as a person uses it: clicked, typed, reloaded, in two tabs, changed from outside, restarted."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from cuecard import Engine, Recorder, Turn
from studio.accessible import seen_everywhere
from studio.served import ServedStudio, copies

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


def conversation(page: Page, studio: ServedStudio, delivery: str = "append") -> Page:
    """The last step of the recorded conversation, chosen in the band."""
    page.goto(f"{studio.url}prompt?agent=cms")
    run = page.locator("#w-run option", has_text=delivery).first.get_attribute("value")
    page.locator("#w-run").select_option(value=run)
    page.wait_for_url("**run=*")
    expect(page.locator(".ruler a[aria-current=step]")).to_be_visible()
    return page


def test_the_token_is_in_no_address_history_or_page(page: Page, studio: ServedStudio) -> None:
    token = studio.entrance.rsplit("=", 1)[1]
    page.context.clear_cookies()
    page.goto(studio.entrance)
    assert page.url == studio.url
    assert token not in page.content()
    assert page.evaluate("document.cookie") == ""
    page.go_back()
    assert token not in page.url


def test_a_first_visitor_searches_and_sees_what_enters(page: Page, studio: ServedStudio) -> None:
    page.goto(studio.url)
    page.locator("main input[type=search]").first.fill("attach an image to a section")
    page.keyboard.press("Enter")
    page.wait_for_url("**/prompt?*found=*")
    expect(page.locator("#main")).to_contain_text("cms_updateSectionImage")


def test_step_three_is_found_with_the_mouse_and_reads_as_it_was_sent(page: Page, studio: ServedStudio) -> None:
    conversation(page, studio)
    page.locator("#step-1\\.3").click()
    page.wait_for_url("**step=1.3*")
    expect(page.locator("h1")).to_contain_text("step 3")
    page.get_by_role("button", name="Unfold all").click()
    assert page.locator("details.sec").count() == page.locator("details.sec[open]").count()
    expect(page.locator("pre.text").first).to_contain_text("content management system")


def test_another_screen_begins_at_its_top(page: Page, studio: ServedStudio) -> None:
    page.set_viewport_size({"width": 360, "height": 900})
    page.goto(studio.url)
    page.get_by_role("link", name="step 1.3").click()
    page.wait_for_url("**/prompt?*")
    expect(page.locator("h1")).to_be_in_viewport()
    assert page.evaluate("scrollY") == 0


def test_a_word_that_is_longer_than_a_telephone_is_wide_wraps(page: Page, studio: ServedStudio) -> None:
    page.set_viewport_size({"width": 360, "height": 900})
    page.goto(f"{studio.url}switches?agent=cms&query={'x' * 200}")
    expect(page.locator(".answer .say strong")).to_contain_text("x" * 200)
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_keys_move_through_screens_steps_and_folds(page: Page, studio: ServedStudio) -> None:
    conversation(page, studio)
    last = page.locator(".ruler a[aria-current=step]").get_attribute("id")
    page.locator("#main").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".ruler a[aria-current=step]")).not_to_have_attribute("id", str(last))
    page.keyboard.press("F")
    expect(page.locator("details.sec:not([open])")).to_have_count(0)
    page.keyboard.press("f")
    expect(page.locator("details.sec[open]")).to_have_count(0)
    page.keyboard.press("2")
    page.wait_for_url("**/timeline?*")
    page.keyboard.press("4")
    page.wait_for_url("**/inputs?*")
    page.keyboard.press("1")
    page.wait_for_url("**/prompt?*")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.type("1?")
    expect(page.locator("#find")).to_have_value("1?")


def test_a_link_that_is_followed_by_keyboard_keeps_the_focus(page: Page, studio: ServedStudio) -> None:
    conversation(page, studio)
    for link in (
        page.get_by_role("link", name="Timeline", exact=True),
        page.locator("#steps").get_by_role("link", name="1.3", exact=True),
        page.get_by_role("link", name="Prompt", exact=True),
        page.get_by_role("link", name="Gemini", exact=True),
    ):
        link.press("Enter")
        expect(link).to_have_attribute("aria-current", re.compile("page|step|true"))
        expect(link).to_be_focused()
    expect(page).to_have_title("Prompt · cms · cuecard studio")


def test_single_keys_can_be_turned_off(page: Page, studio: ServedStudio) -> None:
    page.goto(f"{studio.url}prompt?agent=cms")
    page.get_by_role("button", name="Keyboard shortcuts").click()
    page.get_by_label("single keys act outside fields").uncheck()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.keyboard.press("2")
    page.keyboard.press("t")
    expect(page.locator("#theme")).to_contain_text("Light theme")
    assert not asked


def test_the_theme_stays_after_a_reload(page: Page, studio: ServedStudio) -> None:
    page.goto(studio.url)
    theme = "document.documentElement.dataset.theme"
    page.locator("#theme").click()
    assert page.evaluate(theme) == "dark"
    page.reload()
    assert page.evaluate(theme) == "dark"


def test_on_paper_stands_the_whole_prompt_dark_on_white(page: Page, studio: ServedStudio) -> None:
    conversation(page, studio, "rewrite")
    page.emulate_media(media="print", color_scheme="dark")
    for text in page.locator("details.sec pre.text").all():
        assert text.evaluate("each => each.checkVisibility({contentVisibilityAuto: true})")
        assert text.evaluate("each => each.scrollHeight <= each.clientHeight")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 33, 41)"


def test_why_the_cache_broke_is_the_first_thing_that_the_timeline_says(page: Page, studio: ServedStudio) -> None:
    conversation(page, studio, "rewrite")
    page.keyboard.press("2")
    page.wait_for_url("**/timeline?*")
    expect(page.locator(".say.first")).to_be_visible()
    page.keyboard.press("x")
    expect(page.locator("main")).to_contain_text(re.compile(r"\w+\.(xml|yaml):\d+"))


def test_two_tabs_show_two_steps_and_a_link_shows_the_same_again(page: Page, studio: ServedStudio) -> None:
    conversation(page, studio)
    page.locator("#step-1\\.1").click()
    page.wait_for_url("**step=1.1*")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("h1")).to_have_text(page.locator("h1").inner_text())
    other.locator("#step-1\\.2").click()
    other.wait_for_url("**step=1.2*")
    page.reload()
    expect(page.locator("h1")).to_contain_text("step 1")


def test_a_file_that_is_saved_elsewhere_changes_the_screen_without_a_jump(page: Page, studio: ServedStudio) -> None:
    core = studio.folder / "prompts" / "cms" / "agent.xml"
    before = core.read_text()
    page.goto(f"{studio.url}prompt?agent=cms")
    page.get_by_role("button", name="Unfold all").click()
    page.mouse.wheel(0, 600)
    while (top := page.evaluate("scrollY")) < 600:  # the wheel moves a page in small steps
        page.wait_for_timeout(50)
    core.write_text(before.replace("</identity>", "\nThe studio saw this line.</identity>"))
    expect(page.locator("#main")).to_contain_text("The studio saw this line.")
    assert page.evaluate("scrollY") == top
    expect(page.locator("details.sec:not([open])")).to_have_count(0)
    core.write_text(before.replace("</identity>", "<identity>"))
    expect(page.locator("#live")).to_contain_text("last good")
    expect(page.locator(".problem").first).to_contain_text("agent.xml")
    expect(page.locator("#main")).to_contain_text("The studio saw this line.")
    core.write_text(before)
    expect(page.locator("#live")).to_contain_text("following the files")
    expect(page.locator(".problem")).to_have_count(0)


def test_a_restarted_studio_is_found_again_by_the_open_tab(page: Page, studio: ServedStudio) -> None:
    page.goto(f"{studio.url}prompt?agent=cms")
    studio.stop()
    expect(page.locator("#live")).to_contain_text("waiting")
    studio.start(int(studio.url.rsplit(":", 1)[1].strip("/")))
    page.goto(f"{studio.url}inputs?agent=cms")
    expect(page.locator("#live")).to_contain_text("following the files")


@pytest.mark.parametrize("screen", ["", "prompt?agent=cms", "timeline?agent=cms", "inputs?agent=mistermorph"])
def test_axe_finds_nothing_in_any_theme_or_width(page: Page, studio: ServedStudio, screen: str) -> None:
    page.goto(f"{studio.url}{screen}")
    if screen.startswith(("prompt", "timeline")):
        page.locator("#w-run").select_option(index=1)
        page.wait_for_url("**run=*")
    assert not seen_everywhere(page)


def test_words_under_the_cache_bar_never_lie_over_each_other(page: Page, studio: ServedStudio) -> None:
    conversation(page, studio)
    for step in ("1.1", "1.2", "1.3", "2.1"):
        page.goto(re.sub(r"&step=[^&]*|$", f"&step={step}", page.url, count=1))
        for width in (360, 560, 900, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            boxes = page.locator(".cachebar .scale text").evaluate_all(
                "(all) => all.map((each) => each.getBoundingClientRect()).filter((each) => each.width)"
                ".map((each) => [each.left, each.right]).sort((a, b) => a[0] - b[0])"
            )
            assert boxes
            assert all(0 <= left < right <= width for left, right in boxes), (step, width, boxes)
            assert all(one[1] <= other[0] for one, other in pairwise(boxes)), (step, width, boxes)


@pytest.fixture(scope="module")
def troubled(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedStudio]:
    """A studio of an agent with records that cannot all be read, one that has none, and one that was never right."""
    del browser
    folder = copies(tmp_path_factory.mktemp("troubled"))
    with Recorder(folder / "records" / "host.jsonl") as recorder:
        chat = recorder.instrument(Engine.open(folder / "prompts" / "cms")).conversation()
        chat.user(Turn(conversation="c-1"))
        chat.step()
    with (folder / "records" / "host.jsonl").open("a") as file:
        file.write('{"format": 2, "id": "later", "agent": "cms", "manifest": {}}\n{"format": 1, "id": "cut", "mani')
    shutil.copytree(folder / "prompts" / "cms", folder / "prompts" / "wrong")
    core = folder / "prompts" / "wrong" / "agent.xml"
    core.write_text(core.read_text().replace("</identity>", "<identity>"))
    served = ServedStudio(folder, ["prompts/cms", "prompts/mistermorph", "prompts/wrong"], ["--records", "records"])
    served.start()
    yield served
    served.stop()


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("timeline?agent=mistermorph", "No conversation yet"),
        ("timeline?agent=cms", "Not shown"),
        ("prompt?agent=wrong", "The agent on disk does not work"),
    ],
    ids=["empty", "records cut off or of a later format", "never right"],
)
def test_axe_finds_nothing_where_something_is_missing_or_wrong(
    context: BrowserContext, troubled: ServedStudio, place: str, told: str
) -> None:
    page = troubled.tab(context)
    page.goto(f"{troubled.url}{place}")
    expect(page.locator("#main")).to_contain_text(told)
    assert not seen_everywhere(page)


def test_axe_finds_nothing_beside_the_last_good_prompt(context: BrowserContext, troubled: ServedStudio) -> None:
    core = troubled.folder / "prompts" / "cms" / "agent.xml"
    before = core.read_text()
    page = troubled.tab(context)
    page.goto(f"{troubled.url}prompt?agent=cms")
    expect(page.locator("details.sec").first).to_be_attached()
    core.write_text(before.replace("</identity>", "<identity>"))
    expect(page.locator("#live")).to_contain_text("last good")
    assert not seen_everywhere(page)
    core.write_text(before)


def test_whoever_has_no_conversation_plays_one_with_a_click(context: BrowserContext, troubled: ServedStudio) -> None:
    shutil.move(troubled.folder / "records" / "host.jsonl", troubled.folder / "host.jsonl")
    page = troubled.tab(context)
    page.goto(f"{troubled.url}timeline?agent=cms")
    page.get_by_role("button", name="Play it").click()
    page.wait_for_url("**run=*")
    expect(page.locator("#steps")).to_contain_text("1.1")
    expect(page.locator("h1")).to_contain_text("step")
    shutil.move(troubled.folder / "host.jsonl", troubled.folder / "records" / "host.jsonl")


def test_what_takes_long_is_named_while_the_page_stays(page: Page, studio: ServedStudio) -> None:
    conversation(page, studio)
    page.keyboard.press("2")
    page.wait_for_url("**/timeline?*")
    late: list[Route] = []
    page.route("**/timeline?*a=HEAD*", lambda route: late.extend([route]))
    page.locator("#revision").fill("HEAD~1")
    page.locator("#revision").press("Enter")
    expect(page.locator("#live")).to_contain_text("reading the revision's files")
    expect(page.locator("#steps")).to_contain_text("1.1")
    late.pop().continue_()
    page.wait_for_url("**a=HEAD*")
    expect(page.locator("#live")).to_contain_text("following the files")
