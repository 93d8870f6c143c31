"""An agent folder that somebody made to do harm: nothing of it runs, and nothing of it is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from studio.accessible import violations
from studio.served import ServedStudio

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

SCRIPT = "<script>window.harmed = 1</script>"
IMAGE = "<img src=x onerror='window.harmed = 1'>"
CLOSED = "\"></textarea></pre></title><svg onload='window.harmed = 1'>"
TEMPLATE = "{{ 7 * 7 }} ${7 * 7} {% raw %}"
TOOLS = 5_000


@pytest.fixture(scope="module")
def hostile(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedStudio]:
    """A studio of a hostile folder and of a broken one."""
    del browser
    folder = tmp_path_factory.mktemp("hostile")
    make_hostile(folder / "evil <b>&quot;")
    (folder / "broken").mkdir()
    (folder / "broken" / "agent.yaml").write_text(f'agent: [{SCRIPT}\ninputs: "{CLOSED}\n\x00')
    served = ServedStudio(folder, ["."])
    served.start()
    yield served
    served.stop()


def make_hostile(folder: Path) -> None:
    """An agent whose every text tries to become markup."""
    (folder / "turns").mkdir(parents=True)
    (folder / "skills" / "bad").mkdir(parents=True)
    (folder / "skills" / "bad" / "SKILL.md").write_text(f"---\nname: bad\ndescription: {IMAGE}\n---\n{SCRIPT}\n")
    (folder / "agent.yaml").write_text(
        f"""\
agent: evil
inputs:
  name: {{default: "{SCRIPT}", description: "{IMAGE} javascript:alert(1)"}}
  raw: {{default: "", trust: author, values: ["", "{SCRIPT}"]}}
tools: {{instructions: tools.yaml}}
sections:
  - id: one
    title: "{SCRIPT}"
    text: |
      {SCRIPT} {IMAGE} {{{{name}}}} {{{{{{raw}}}}}} \\{{{{ 7 * 7 }}}}
  - id: skills
    skills: {{roots: [skills]}}
  - id: found
    text: "{{{{{{activeProtocols}}}}}}"
"""
    )
    rows = [f"  tool_{number}:\n    before: 'Say {IMAGE.replace(chr(39), '')} {number}'\n" for number in range(TOOLS)]
    for start in range(0, TOOLS, 1_000):
        text = f"category: c{start}\ntools:\n" + "".join(rows[start : start + 1_000])
        (folder / ("tools.yaml" if not start else f"tools-{start}.yaml")).write_text(text)
    files = ["tools.yaml", *(f"tools-{start}.yaml" for start in range(1_000, TOOLS, 1_000))]
    agent = folder / "agent.yaml"
    agent.write_text(agent.read_text().replace("instructions: tools.yaml", f"instructions: [{', '.join(files)}]"))
    (folder / "turns" / "<img src=x onerror=alert(1)>.yaml").write_text(f'inputs: {{name: "{SCRIPT}"}}\n')
    (folder / "turns" / "wrong.yaml").write_text(f'inputs: {{name: [1, "{SCRIPT}"], "{SCRIPT}": 1}}\nnow: "{IMAGE}"\n')


@pytest.fixture
def tab(context: BrowserContext, hostile: ServedStudio) -> Page:
    return hostile.tab(context)


def unharmed(page: Page) -> bool:
    """Whether no text became markup: nothing ran, and no element is there that the studio did not make."""
    foreign = page.locator("main script, main img, main svg[onload], body > script").count()
    return page.evaluate("window.harmed === undefined") is True and foreign == 0


def test_texts_are_shown_letter_by_letter_and_nothing_runs(tab: Page, hostile: ServedStudio) -> None:
    name = "evil <b>&quot;"
    tab.goto(f"{hostile.url}prompt?agent={name.replace('&', '%26').replace('<', '%3C')}")
    tab.get_by_role("button", name="Unfold all").click()
    expect(tab.locator("pre.text").first).to_contain_text(SCRIPT)
    assert unharmed(tab)
    tab.goto(f"{hostile.url}timeline?agent={name.replace('&', '%26').replace('<', '%3C')}")
    assert unharmed(tab)


def test_a_hostile_turn_is_shown_in_the_form(tab: Page, hostile: ServedStudio) -> None:
    tab.goto(f"{hostile.url}inputs?agent=evil %3Cb>%26quot;")
    tab.get_by_role("combobox", name="Turn file").select_option("wrong.yaml")
    expect(tab.locator("#t-now")).to_have_value(IMAGE)
    expect(tab.locator("#i-name")).to_have_value(f'[\n  1,\n  "{SCRIPT}"\n]')
    expect(tab.locator("#strange").locator("..")).to_contain_text(SCRIPT)
    assert unharmed(tab)


def test_thousands_of_tools_are_searched_and_none_is_hidden(tab: Page, hostile: ServedStudio) -> None:
    tab.goto(f"{hostile.url}prompt?agent=evil %3Cb>%26quot;&found=tool_4999,tool_7")
    expect(tab.locator("#main")).to_contain_text("tool_4999")
    assert unharmed(tab)


def test_a_broken_folder_says_what_is_wrong_and_the_others_go_on(tab: Page, hostile: ServedStudio) -> None:
    tab.goto(f"{hostile.url}prompt?agent=broken")
    expect(tab.locator(".problem").first).to_be_visible()
    assert unharmed(tab)
    expect(tab.locator("#w-agent option")).to_have_count(2)
    assert not violations(tab)
