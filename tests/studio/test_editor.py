"""The Editor as a person uses it: typed, reloaded, in two tabs, with files that change, and a studio that ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from studio.accessible import seen_everywhere
from studio.served import ServedStudio

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Route

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
AFTER = "after: Show the hits with their local urls and ask for a choice"


@pytest.fixture
def images(studio: ServedStudio) -> Iterator[Path]:
    """The file of the entry; afterwards it is as it was."""
    path = studio.folder / "tool_instructions" / "cms" / "images.yaml"
    before = path.read_text()
    yield path
    path.write_text(before)


@pytest.fixture
def entry(page: Page, studio: ServedStudio, images: Path) -> Page:
    """The Editor with the entry of a tool."""
    del images
    page.goto(studio.url)  # what the test before has restored is noticed meanwhile, and not while somebody writes
    page.goto(f"{studio.url}editor?agent=cms&tool=cms_searchImages")
    expect(page.locator("#yaml li").first).to_contain_text("cms_searchImages")
    expect(after(page)).to_have_value(AFTER.removeprefix("after: "))
    return page


def after(page: Page) -> Locator:
    return page.locator("#f-after")


def saves(page: Page) -> Locator:
    return page.get_by_role("button", name="Save to images.yaml")


def test_somebody_new_adds_an_instruction_and_sees_it_in_the_prompt_the_file_and_the_review(
    page: Page, studio: ServedStudio, images: Path
) -> None:
    page.goto(studio.url)
    page.locator("main input[type=search]").first.fill("attach an image to a section")
    page.keyboard.press("Enter")
    page.locator("details.sec summary", has_text="cms_updateSectionImage").click()
    page.get_by_role("link", name="Edit cms_updateSectionImage").click()
    page.locator("#f-gotcha").press("Control+End")
    page.locator("#f-gotcha").press_sequentially(" Ask before you replace a picture.")
    expect(page.locator("#beside pre").first).to_contain_text("Ask before you replace a picture.")
    expect(page.locator("#review")).to_contain_text("+GOTCHA:")
    expect(page.locator("#review")).to_contain_text("Ask before you replace a picture.")
    saves(page).click()
    expect(page.locator("#toast")).to_contain_text("Saved to images.yaml")
    assert "Ask before you replace a picture." in images.read_text()
    page.get_by_role("link", name="Open the prompt as saved").click()
    page.wait_for_url("**/prompt?*")
    page.locator("details.sec summary", has_text="cms_updateSectionImage").click()
    expect(page.locator("details.sec[open] pre")).to_contain_text("Ask before you replace a picture.")
    assert studio.process


def test_what_is_typed_is_seen_in_the_preview_and_checked_at_its_field(entry: Page, images: Path) -> None:
    before = images.read_text()
    field = entry.locator("#f-next")
    field.fill("cms_updateSectionImag (attach)")
    expect(entry.locator("#beside pre").first).to_contain_text("NEXT: cms_updateSectionImag (attach)")
    expect(entry.locator("#e-f-next")).to_contain_text("has no entry")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(entry.locator("#s-f-next")).to_contain_text("changed")
    entry.get_by_role("button", name="Replace it").click()
    expect(field).to_have_value("cms_updateSectionImage (attach)")
    expect(entry.locator("#e-f-next p")).to_have_count(0)
    expect(field).to_be_focused()
    assert images.read_text() == before


def test_a_phrase_is_added_and_searched(entry: Page, images: Path) -> None:
    entry.get_by_role("button", name="Add a phrase").click()
    entry.keyboard.type("show me photos of mountains")
    entry.keyboard.press("Control+s")
    expect(entry.locator("#toast")).to_contain_text("Saved to images.yaml")
    assert "      - semantic image search\n      - show me photos of mountains\n" in images.read_text()


def test_the_condition_of_a_section_is_edited_like_its_text(page: Page, studio: ServedStudio) -> None:
    agent = studio.folder / "prompts" / "cms" / "agent.yaml"
    before = agent.read_text()
    page.goto(f"{studio.url}editor?agent=cms&section=working-memory")
    field = page.locator("#f-when")
    field.fill("{model: [nobody")
    expect(page.locator("#say")).to_contain_text("cannot be read")
    field.press("Enter")
    expect(field).to_have_value("{model: [nobody")
    field.fill("{model: nobody}")
    expect(page.locator("#say")).to_contain_text("does not read this section")
    expect(page.locator("#save")).to_contain_text("Save to agent.yaml")
    assert not seen_everywhere(page)
    page.locator("#save").click()
    expect(page.locator("#toast")).to_contain_text("Saved to agent.yaml")
    assert "sections:\n" in agent.read_text()
    expect(field).to_have_value("{model: nobody}")
    agent.write_text(before)


def test_words_are_tried_with_a_phrase_that_is_not_saved(entry: Page) -> None:
    entry.get_by_role("button", name="Add a phrase").click()
    entry.keyboard.type("paint me a zebra")
    expect(entry.locator("#phrases li").last).to_contain_text("1st of")
    entry.locator("#x").click()
    entry.keyboard.press("/")
    entry.keyboard.type("a zebra, painted")
    entry.keyboard.press("Enter")
    expect(entry.locator("#tried")).to_contain_text("this one")
    assert "/editor?" in entry.url
    assert not seen_everywhere(entry)


def test_a_draft_outlives_other_screens_sizes_reloads_and_the_studio(
    entry: Page, studio: ServedStudio, images: Path
) -> None:
    before = images.read_text()
    after(entry).fill("Half a thought")
    expect(entry.locator("#kept")).to_contain_text("kept in this browser")
    entry.set_viewport_size({"width": 700, "height": 900})
    expect(after(entry)).to_have_value("Half a thought")
    entry.get_by_role("link", name="Timeline").click()
    entry.wait_for_url("**/timeline?*")
    entry.go_back()
    expect(after(entry)).to_have_value("Half a thought")
    entry.reload()
    expect(after(entry)).to_have_value("Half a thought")
    expect(entry.locator("#beside pre").first).to_contain_text("AFTER: Half a thought")
    expect(entry.locator("#review")).to_contain_text("+AFTER: Half a thought")
    studio.restart()
    entry.reload()
    expect(after(entry)).to_have_value("Half a thought")
    expect(entry.locator("#say")).to_contain_text("Your change is a draft")
    saves(entry).click()
    expect(entry.locator("#toast")).to_contain_text("Saved to images.yaml")
    assert images.read_text() == before.replace(AFTER, "after: Half a thought")
    entry.reload()
    expect(entry.get_by_role("button", name="Drop the draft")).to_be_hidden()


def test_an_answer_to_a_screen_that_was_left_is_given_up(entry: Page) -> None:
    held: dict[str, Route] = {}
    for path in ("/editor/checked", "/timeline"):
        entry.route(f"**{path}?*", lambda route: held.update({urlsplit(route.request.url).path: route}))
    entry.get_by_role("link", name="Timeline").click()
    after(entry).fill("Half a thought")  # it is to be checked while the other screen is on its way
    while len(held) < 2:
        entry.wait_for_timeout(50)
    held["/timeline"].continue_()
    expect(entry.locator("h1")).to_have_text("Which conversation")
    with entry.expect_event("requestfinished"):
        held["/editor/checked"].continue_()
    expect(entry.locator("h1")).to_have_text("Which conversation")
    entry.unroute_all()
    entry.go_back()
    expect(after(entry)).to_have_value("Half a thought")


@pytest.mark.parametrize("refused", [False, True])
def test_what_is_written_while_the_studio_saves_goes_on(entry: Page, images: Path, *, refused: bool) -> None:
    late: list[Route] = []
    entry.route("**/editor/save*", lambda route: late.extend([route]))
    after(entry).fill("One")
    with entry.expect_request("**/editor/save*"):
        entry.keyboard.press("Control+s")
    after(entry).press_sequentially(" and two")
    if refused:
        images.write_text(images.read_text().replace(AFTER, "after: Theirs"))
    late.pop().continue_()
    if refused:
        expect(entry.locator("#conflict pre").first).to_have_text("One and two")
        entry.get_by_role("button", name="Go on with what the form says").click()
    else:
        expect(entry.locator("#toast")).to_contain_text("Saved to images.yaml")
        assert "after: One\n" in images.read_text()
    expect(after(entry)).to_have_value("One and two")
    expect(entry.locator("#is-draft")).to_be_visible()
    expect(entry.locator("#conflict section")).to_have_count(0)
    entry.unroute_all()
    saves(entry).click()
    expect(entry.locator("#is-draft")).to_be_hidden()
    assert "after: One and two\n" in images.read_text()


@pytest.mark.parametrize("field", ["#f-after", "#f-phrases-1"])
def test_who_writes_within_a_text_while_it_is_saved_goes_on_at_the_same_letter(
    entry: Page, images: Path, field: str
) -> None:
    del images
    late: list[Route] = []
    entry.route("**/editor/save*", lambda route: late.extend([route]))
    entry.locator(field).fill("one three")
    entry.locator(field).press("Home")
    for _ in "one":
        entry.keyboard.press("ArrowRight")
    with entry.expect_request("**/editor/save*"):
        entry.keyboard.press("Control+s")
    entry.keyboard.type(" tw")
    late.pop().continue_()
    expect(entry.locator("#toast")).to_contain_text("Saved to images.yaml")
    entry.keyboard.type("o")
    expect(entry.locator(field)).to_have_value("one two three")
    expect(entry.locator("#theme")).to_contain_text("Light theme")  # no letter was taken for a key of the page


def test_what_is_selected_stays_so_when_the_file_changes(entry: Page, images: Path) -> None:
    after(entry).focus()
    entry.keyboard.press("Control+a")
    images.write_text(images.read_text().replace("ask for a choice", "ask which one"))
    expect(after(entry)).to_have_value("Show the hits with their local urls and ask which one")
    entry.keyboard.type("Show two.")
    expect(after(entry)).to_have_value("Show two.")


def test_a_draft_is_dropped(entry: Page) -> None:
    after(entry).fill("Nothing")
    entry.get_by_role("button", name="Drop the draft").click()
    expect(after(entry)).to_have_value(AFTER.removeprefix("after: "))
    entry.reload()
    expect(after(entry)).to_have_value(AFTER.removeprefix("after: "))


def test_a_file_that_changes_while_somebody_types_is_shown_beside_the_draft(entry: Page, images: Path) -> None:
    after(entry).fill("Mine")
    theirs = images.read_text().replace(
        "after: Show the hits with their local urls and ask for a choice", "after: Theirs"
    )
    images.write_text(theirs)
    expect(entry.locator("#conflict")).to_contain_text("changed meanwhile")
    expect(after(entry)).to_have_value("Mine")
    entry.keyboard.type(", and more")
    expect(entry.locator("#conflict pre").first).to_have_text("Mine, and more")
    expect(entry.locator("#conflict pre").last).to_have_text("Theirs")
    saves(entry).click()
    expect(entry.locator("#problems")).to_contain_text("nothing is written over it")
    assert images.read_text() == theirs
    entry.get_by_role("button", name="Go on with what the form says").click()
    expect(entry.locator("#conflict section")).to_have_count(0)
    saves(entry).click()
    expect(entry.locator("#toast")).to_contain_text("Saved to images.yaml")
    assert images.read_text() == theirs.replace("after: Theirs", "after: Mine, and more")


def test_their_text_can_be_taken(entry: Page, images: Path) -> None:
    after(entry).fill("Mine")
    images.write_text(images.read_text().replace(AFTER, "after: Theirs"))
    entry.get_by_role("button", name="Take this one").click()
    expect(after(entry)).to_have_value("Theirs")


def test_two_tabs_with_one_entry_take_nothing_from_each_other(entry: Page, studio: ServedStudio, images: Path) -> None:
    other = entry.context.new_page()
    other.goto(entry.url)
    after(entry).fill("First tab")
    after(other).fill("Second tab")
    expect(other.locator("#beside pre").first).to_contain_text("AFTER: Second tab")
    entry.reload()
    expect(after(entry)).to_have_value("First tab")
    saves(entry).click()
    expect(entry.locator("#toast")).to_contain_text("Saved to images.yaml")
    expect(other.locator("#conflict pre").first).to_have_text("Second tab")
    expect(other.locator("#conflict pre").last).to_have_text("First tab")
    saves(other).click()
    expect(other.locator("#problems")).to_contain_text("nothing is written over it")
    assert "after: First tab" in images.read_text()
    assert studio.process


def test_a_file_that_becomes_invalid_takes_nothing_from_the_form(entry: Page, images: Path) -> None:
    good = images.read_text()
    after(entry).fill("Mine")
    images.write_text(good.replace("tools:", "tools: [", 1))
    expect(entry.locator("#unreadable")).to_contain_text("images.yaml")
    expect(entry.locator("#live")).to_have_text("last good shown")
    expect(entry.locator("#is-draft")).to_be_visible()
    images.write_text(good)
    expect(entry.locator("#unreadable")).to_be_empty()
    expect(entry.locator("#live")).to_have_text("following the files")
    images.write_text(good.replace("tools:", "tools: {[", 1))  # the same again would be no change to who looks seldom
    expect(entry.locator("#unreadable")).to_contain_text("images.yaml")
    saves(entry).click()
    expect(entry.locator("#unreadable")).to_contain_text("images.yaml")
    expect(after(entry)).to_have_value("Mine")
    entry.reload()
    expect(entry.locator("#problems")).to_contain_text("images.yaml")
    images.write_text(good)
    expect(after(entry)).to_have_value("Mine")
    saves(entry).click()
    expect(entry.locator("#toast")).to_contain_text("Saved to images.yaml")
    assert "after: Mine" in images.read_text()


def test_a_draft_says_that_another_file_is_broken(entry: Page, images: Path) -> None:
    core = images.parents[2] / "prompts" / "cms" / "agent.xml"
    good = core.read_text()
    after(entry).fill("Mine")
    core.write_text(f"<agent>{good}")
    expect(entry.locator("#live")).to_have_text("last good shown")
    expect(entry.locator("#chips")).to_contain_text("1 error in the files")
    core.write_text(good)
    expect(entry.locator("#live")).to_have_text("following the files")
    expect(entry.locator("#chips")).to_have_text("draft")


def test_what_check_refuses_is_saved_by_a_second_press_alone(page: Page, studio: ServedStudio) -> None:
    core = studio.folder / "prompts" / "cms" / "agent.xml"
    before = core.read_text()
    page.goto(f"{studio.url}editor?agent=cms&section=identity")
    field = page.locator("#f-text")
    field.fill("\nYou are {{#if}}\n")
    page.keyboard.press("Control+s")
    expect(page.locator("#problems")).to_contain_text("cuecard check would refuse this")
    assert core.read_text() == before
    page.get_by_role("button", name="Save to agent.xml with 1 error").click()
    expect(page.locator("#toast")).to_contain_text("Saved to agent.xml")
    expect(page.locator("#f-text")).to_have_value("\nYou are {{#if}}\n")
    assert "You are {{#if}}\n" in core.read_text()
    core.write_text(before)


def test_a_file_that_changes_is_followed_where_nothing_was_written(entry: Page, images: Path) -> None:
    after(entry).focus()
    images.write_text(images.read_text().replace("ask for a choice", "ask which one"))
    expect(after(entry)).to_have_value("Show the hits with their local urls and ask which one")


def test_nobody_is_kept_from_the_editor(browser: Browser, entry: Page, images: Path) -> None:
    del browser
    entry.locator("#f-next").fill("cms_updateSectionImag (attach)")
    expect(entry.locator("#e-f-next")).to_contain_text("has no entry")
    images.write_text(images.read_text().replace("next: cms_updateSectionImage (attach)", "next: None"))
    expect(entry.locator("#conflict")).to_contain_text("changed meanwhile")
    assert not seen_everywhere(entry)
