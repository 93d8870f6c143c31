"""Switches and Price as a person uses them: clicked, typed, dragged, reloaded, in two tabs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from studio.accessible import seen_everywhere
from studio.served import ServedStudio

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page, Route

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


def step(page: Page, studio: ServedStudio, screen: str, place: str = "2.3", more: str = "") -> None:
    """Open a screen at a step of the recording."""
    page.goto(f"{studio.url}prompt?agent=cms")
    found = page.locator("#w-run option", has_text="append").first.get_attribute("value")
    page.goto(f"{studio.url}{screen}?agent=cms&run={found}&step={place}{more}")


def first(page: Page) -> str:
    return page.locator(".say.first").inner_text()


def test_a_switch_changes_the_prompt_and_a_reload_shows_the_same(page: Page, studio: ServedStudio) -> None:
    step(page, studio, "switches")
    expect(page.locator(".say.first")).to_contain_text("10 of 45 tools are found")
    page.locator("#find").fill("getnav")
    page.get_by_role("switch", name="cms_getNavigation").click()
    expect(page.locator(".say.first")).to_contain_text("11 of 45 tools are found")
    expect(page.locator("aside")).to_contain_text("cms_getNavigation")
    expect(page.get_by_role("switch", name="cms_getNavigation")).to_be_focused()
    page.locator("#find").fill("")
    page.get_by_role("switch", name="cms_getPost").click()
    expect(page.locator(".say.first")).to_contain_text("10 of 45 tools are found")
    told = first(page)
    page.reload()
    assert first(page) == told
    page.go_back()
    expect(page.locator(".say.first")).to_contain_text("11 of 45 tools are found")


def test_the_keyboard_alone_switches_tools(page: Page, studio: ServedStudio) -> None:
    page.goto(f"{studio.url}switches?agent=cms")
    page.locator("#find").focus()
    page.keyboard.type("listposts")
    page.keyboard.press("Tab")
    page.locator("#s-cms_listPosts").focus()
    page.keyboard.press("Space")
    expect(page.locator(".say.first")).to_contain_text("1 of 45 tools is found")


def test_a_search_finds_and_its_words_become_a_phrase_in_the_file(page: Page, studio: ServedStudio) -> None:
    file = studio.folder / "tool_instructions" / "cms" / "posts.yaml"
    before = file.read_text(encoding="utf-8")
    page.goto(f"{studio.url}switches?agent=cms")
    page.locator("#q").fill("bring the diary up to date")
    page.keyboard.press("Enter")
    page.wait_for_url("**query=*")
    page.locator("#to").select_option("cms_updatePost")
    page.get_by_role("button", name="Add “bring the diary up to date” to posts.yaml").click()
    expect(page.locator("#toast")).to_contain_text("is now a phrase of cms_updatePost")
    after = file.read_text(encoding="utf-8")
    assert "bring the diary up to date" in after
    assert [line for line in before.splitlines() if "#" in line] == [line for line in after.splitlines() if "#" in line]
    expect(page.locator(".score li").first).to_contain_text("cms_updatePost")
    page.get_by_role("button", name="Close").last.click()
    file.write_text(before, encoding="utf-8")


def test_a_click_in_the_graph_of_next_finds_the_tool(page: Page, studio: ServedStudio) -> None:
    page.goto(f"{studio.url}switches?agent=cms&by=hand&found=cms_createPost")
    page.locator("a.node", has_text="cms_publishPost").click()
    expect(page.locator(".say.first")).to_contain_text("2 of 45 tools are found")
    expect(page.locator("a.node.on", has_text="cms_publishPost")).to_be_visible()
    page.get_by_label("The same as a list").get_by_role("link", name="pexels_searchPhotos").click()
    expect(page.locator(".say.first")).to_contain_text("3 of 45 tools are found")


def take(page: Page, slider: Locator) -> None:
    """Press the mouse on a slider."""
    box = slider.bounding_box()
    assert box
    slider.hover(position={"x": box["width"] * 0.7, "y": 12})
    page.mouse.down()


def pull(page: Page, slider: Locator) -> None:
    """Move it to the left, where it has been taken."""
    box = slider.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + 12, steps=5)


def test_a_slider_says_what_goes_while_it_is_dragged_and_is_written_by_its_button(
    page: Page, studio: ServedStudio
) -> None:
    file = studio.folder / "prompts" / "cms" / "agent.yaml"
    before = file.read_text(encoding="utf-8")
    step(page, studio, "switches")
    slider = page.locator("#r-protocols")
    take(page, slider)
    pull(page, slider)
    expect(page.locator("#fits-protocols")).to_contain_text("left out by this budget")
    expect(page.locator(".say.first")).to_contain_text("of the 2,000 tokens allowed")
    page.mouse.up()
    expect(page.locator(".say.first")).to_contain_text("no room")
    page.wait_for_url("**protocols=*")
    assert file.read_text(encoding="utf-8") == before
    page.locator("#b-protocols").fill("700")
    page.keyboard.press("Enter")
    page.wait_for_url("**protocols=700*")
    expect(page.locator(".say.first")).to_contain_text("of the 700 tokens allowed")
    page.get_by_role("button", name=re.compile(r"Write to agent\.yaml:\d+")).first.click()
    expect(page.locator("#toast")).to_contain_text("budget.protocols is now 700 tokens")
    assert file.read_text(encoding="utf-8") == before.replace("protocols: 2000", "protocols: 700")
    file.write_text(before, encoding="utf-8")
    page.get_by_role("button", name="Close").last.click()


def test_a_new_state_that_is_on_its_way_waits_while_somebody_drags(page: Page, studio: ServedStudio) -> None:
    file = studio.folder / "prompts" / "cms" / "agent.yaml"
    before = file.read_text(encoding="utf-8")
    answers: list[Route] = []
    step(page, studio, "switches")
    slider = page.locator("#r-protocols")
    page.route(re.compile(r"/switches\?"), lambda route: answers.append(route))  # noqa: PLW0108 - a method of a list takes no attributes
    file.write_text(f"{before}# seen\n", encoding="utf-8")
    while not answers:
        page.wait_for_timeout(50)
    take(page, slider)
    with page.expect_event("requestfinished"):
        answers[0].continue_()
    pull(page, slider)
    expect(page.locator("#fits-protocols")).to_contain_text("left out by this budget")
    place = page.locator("#b-protocols").input_value()
    page.unroute_all(behavior="ignoreErrors")
    page.mouse.up()
    page.wait_for_url(f"**protocols={place}*")
    expect(page.locator(".say.first")).to_contain_text("tokens allowed")
    file.write_text(before, encoding="utf-8")


def test_two_tabs_have_switches_of_their_own(context: BrowserContext, page: Page, studio: ServedStudio) -> None:
    other = context.new_page()
    for tab, tool in ((page, "cms_getPage"), (other, "cms_getPost")):
        tab.goto(f"{studio.url}switches?agent=cms&by=hand&found={tool}")
    page.locator("#all-off").click()
    expect(page.locator(".say.first")).to_contain_text("None of the 45 tools is found yet")
    other.reload()
    expect(other.locator(".say.first")).to_contain_text("1 of 45 tools is found")


def test_what_if_is_dragged_and_typed_and_the_address_holds_it(page: Page, studio: ServedStudio) -> None:
    step(page, studio, "price")
    expect(page.locator("#models table")).to_be_visible()
    plain = first(page)
    page.locator("#r-width").focus()
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    expect(page.locator("#b-width")).to_have_value("2")
    page.wait_for_url("**width=2*")
    expect(page.locator("h1")).to_contain_text("What such a conversation would cost")
    assert first(page) != plain
    expect(page.locator("#models table")).to_be_visible()
    page.locator("#usd").fill("5")
    page.keyboard.press("Enter")
    expect(page.locator(".figures")).to_contain_text("$ ")
    expect(page.locator("#models table")).to_be_visible()
    told = first(page)
    page.reload()
    assert first(page) == told
    expect(page.locator("#models table")).to_be_visible()
    page.get_by_role("link", name="Back to the recording").click()
    expect(page.locator(".say.first")).to_have_text(plain)
    expect(page.locator("#models table")).to_be_visible()


def test_more_and_fewer_tools_are_played_when_somebody_asks(page: Page, studio: ServedStudio) -> None:
    step(page, studio, "price")
    expect(page.locator("#models table")).to_be_visible()
    page.get_by_role("button", name="Play it with 10 to 1,000 tools").click()
    expect(page.locator("#sizes table")).to_contain_text("1,000")


def test_a_body_is_shown_and_copied(context: BrowserContext, page: Page, studio: ServedStudio) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    step(page, studio, "prompt")
    page.get_by_role("link", name="Bedrock").click()
    expect(page.locator("#bd")).to_contain_text("Bedrock")
    page.get_by_role("button", name="Copy the body").click()
    expect(page.locator("#toast")).to_contain_text("copied")
    assert '"modelId"' in page.evaluate("navigator.clipboard.readText()")


def test_axe_finds_nothing(page: Page, studio: ServedStudio) -> None:
    step(
        page,
        studio,
        "switches",
        more="&query=list%20blog%20posts&by=hand&found=cms_createPost,cms_getPost&protocols=90",
    )
    found = seen_everywhere(page)
    page.goto(f"{studio.url}switches?agent=cms&query=zzqq&found=nope")
    found += seen_everywhere(page)
    step(page, studio, "price", more="&price=5&size=60")
    expect(page.locator("#models table")).to_be_visible()
    found += seen_everywhere(page)
    step(page, studio, "prompt", more="&form=anthropic")
    found += seen_everywhere(page)
    assert not found
