"""The Inputs screen as a person uses it: filled in, opened from a file, saved, and never a word lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from studio.served import ServedStudio

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


@pytest.fixture
def inputs(page: Page, studio: ServedStudio) -> Page:
    """The screen with the values of a shipped turn file."""
    page.goto(f"{studio.url}inputs?agent=mistermorph")
    page.get_by_role("combobox", name="Turn file").select_option("memory-private.yaml")
    expect(page.locator(".say.first")).to_contain_text("3 of 10 inputs differ from their defaults")
    return page


def test_a_turn_file_fills_the_form_and_nothing_of_it_stands_in_the_address(inputs: Page) -> None:
    expect(inputs.get_by_label("memory_long_term", exact=True)).to_have_value(re.compile("Jana is allergic to nuts"))
    expect(inputs.locator("#beside")).to_contain_text("Jana is allergic to nuts")
    assert re.fullmatch(r"agent=mistermorph&turn=[0-9a-f]{32}", inputs.url.partition("?")[2])
    assert inputs.locator(".field:has(.end b)").count() == 3


def test_the_prompt_follows_while_somebody_writes_and_the_cursor_stays(inputs: Page) -> None:
    field = inputs.get_by_label("memory_long_term", exact=True)
    field.click()
    field.press("End")
    inputs.keyboard.type(" She likes rain.", delay=30)
    expect(inputs.locator("#beside")).to_contain_text("She likes rain.")
    inputs.keyboard.type(" And tea.")
    expect(inputs.locator("#beside")).to_contain_text("She likes rain. And tea.")
    expect(field).to_be_focused()


def test_values_survive_a_reload_the_way_back_and_a_second_tab(inputs: Page) -> None:
    inputs.get_by_label("channel", exact=True).fill("slack")
    expect(inputs.locator("#beside summary code").filter(has_text="slack")).to_be_visible()
    inputs.reload()
    expect(inputs.get_by_label("channel", exact=True)).to_have_value("slack")
    other = inputs.context.new_page()
    other.goto(inputs.url)
    other.get_by_label("channel", exact=True).fill("line")
    expect(other.locator("#beside summary code").filter(has_text=re.compile("^line$"))).to_be_visible()
    expect(inputs.get_by_label("channel", exact=True)).to_have_value("slack")
    inputs.get_by_role("button", name="Default of channel").click()
    expect(inputs.get_by_label("channel", exact=True)).to_have_value("")
    inputs.go_back()
    expect(inputs.get_by_label("channel", exact=True)).to_have_value("slack")


def test_a_word_that_was_not_sent_yet_outlives_a_reload(inputs: Page) -> None:
    inputs.get_by_label("memory_long_term", exact=True).fill("unsent")
    inputs.reload()
    expect(inputs.get_by_label("memory_long_term", exact=True)).to_have_value("unsent")
    expect(inputs.locator("#beside")).to_contain_text("unsent")


def test_what_is_wrong_is_said_at_its_field_and_mended_by_its_button(inputs: Page) -> None:
    now = inputs.get_by_label("now", exact=True)
    now.fill("yesterday")
    expect(inputs.locator("#e-t-now")).to_contain_text("should be an ISO 8601 time with a zone")
    expect(now).to_have_attribute("aria-invalid", "true")
    expect(inputs.locator(".say.first")).to_contain_text("1 value is wrong or missing; without it, the prompt has")
    inputs.reload()
    expect(now).to_have_value("yesterday")
    inputs.get_by_role("button", name="Remove now").click()
    expect(now).to_have_value("")


def test_switches_lists_and_tools_are_used_by_keyboard_alone(inputs: Page) -> None:
    switch = inputs.get_by_role("switch", name="is_group")
    switch.focus()
    inputs.keyboard.press("Space")
    expect(inputs.locator(".cuts")).to_contain_text("memory_long_term")
    names = inputs.get_by_label("mention_users", exact=True)
    names.focus()
    inputs.keyboard.type("@jana\n@ben")
    expect(inputs.locator(".say.first")).to_contain_text("5 of 10 inputs differ")
    tool = inputs.get_by_label("tools that exist", exact=True)
    tool.focus()
    inputs.keyboard.type("plan_create")
    inputs.keyboard.press("Enter")
    expect(inputs.get_by_role("button", name="plan_create ×, remove")).to_be_visible()
    inputs.get_by_role("button", name="plan_create ×, remove").press("Enter")
    expect(inputs.get_by_role("button", name="plan_create ×, remove")).to_have_count(0)
    expect(inputs.locator("#page :focus")).to_have_count(1)
    names.fill("@jana")
    default = inputs.get_by_role("button", name="Default of mention_users")
    default.press("Enter")
    expect(default).to_have_count(0)
    expect(names).to_be_focused()


def test_entities_are_added_and_removed(inputs: Page) -> None:
    inputs.locator("#m-0-type").fill("page")
    inputs.locator("#m-0-name").fill("Home")
    inputs.get_by_role("button", name="Add an entity").click()
    expect(inputs.locator("#m-1-type")).to_be_visible()
    inputs.get_by_role("button", name="Remove Home").click()
    expect(inputs.locator("#m-0-name")).to_have_value("")


def test_a_turn_is_saved_with_its_comments_and_never_over_what_somebody_else_wrote(
    inputs: Page, studio: ServedStudio
) -> None:
    path = studio.folder / "prompts" / "mistermorph" / "turns" / "memory-private.yaml"
    before = path.read_text()
    inputs.get_by_label("channel", exact=True).fill("slack")
    expect(inputs.locator("#beside summary code").filter(has_text="slack")).to_be_visible()
    expect(inputs.locator("#state")).to_have_text("not saved yet")
    inputs.get_by_role("button", name="Save to memory-private.yaml").click()
    expect(inputs.locator("#state")).to_have_text("saved")
    assert path.read_text() == before.replace("channel: telegram", "channel: slack")
    path.write_text(before + "# mine\n")
    inputs.get_by_label("channel", exact=True).fill("lark")
    inputs.get_by_role("button", name="Save to memory-private.yaml").click()
    expect(inputs.get_by_role("alert")).to_contain_text("somebody else has changed the file")
    expect(inputs.get_by_label("channel", exact=True)).to_have_value("lark")
    assert path.read_text() == before + "# mine\n"
    inputs.get_by_label("Name of the file", exact=True).fill("mine.yaml")
    inputs.get_by_role("button", name="Save as this file").click()
    expect(inputs.get_by_role("button", name="Save to mine.yaml")).to_be_visible()
    assert "channel: lark" in path.with_name("mine.yaml").read_text()
    path.write_text(before)


def test_a_step_of_a_conversation_fills_the_form(page: Page, studio: ServedStudio) -> None:
    page.goto(f"{studio.url}timeline?agent=cms")
    page.locator("#w-run").select_option(index=1)
    page.wait_for_url("**run=*")
    page.keyboard.press("4")
    page.wait_for_url("**/inputs?*")
    expect(page.locator("#answer")).to_contain_text("Filled from step")
    expect(page.get_by_label("message", exact=True)).not_to_have_value("")


def test_files_that_change_while_somebody_writes_take_no_word_away(inputs: Page, studio: ServedStudio) -> None:
    agent = studio.folder / "prompts" / "mistermorph" / "agent.yaml"
    before = agent.read_text()
    field = inputs.get_by_label("memory_long_term", exact=True)
    field.fill("half a sen")
    agent.write_text(before.replace("what stays true, in one line", "what stays true"))
    expect(inputs.locator("#live")).to_contain_text("press to show")
    inputs.keyboard.type("tence")
    inputs.locator("#live").click()
    expect(inputs.locator("#h-i-memory_long_term")).to_contain_text("what stays true.")
    expect(field).to_have_value("half a sentence")
    agent.write_text(before)
