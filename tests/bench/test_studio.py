"""The studio in a browser: how heavy and how quick its pages are, and how smoothly they scroll."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from studio.served import BROWSER, ServedStudio, copies

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.bench

PAGE_BYTES, PAGE_SECONDS = 80 * 1024, 0.5
EDIT_SECONDS = 0.4
FRAME_SECONDS = 0.1
TOOLS = 1_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not BROWSER:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def studio(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedStudio]:
    del browser
    folder = copies(tmp_path_factory.mktemp("studio"))
    many(folder / "prompts" / "many")
    served = ServedStudio(folder, ["prompts/cms", "prompts/many"], ["--records", "recordings"])
    served.start()
    yield served
    served.stop()


@pytest.fixture
def page(browser: Browser, studio: ServedStudio) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    made = context.new_page()
    made.goto(studio.entrance)
    yield made
    context.close()


def many(folder: Path) -> None:
    """An agent of a thousand tools."""
    folder.mkdir()
    rows = "".join(f"  tool_{number}:\n    before: Have the thing numbered {number}.\n" for number in range(TOOLS))
    (folder / "tools.yaml").write_text(f"category: many\ntools:\n{rows}")
    section = '  - id: found\n    text: "{{{activeProtocols}}}"\n'
    (folder / "agent.yaml").write_text(f"agent: many\ntools: {{instructions: tools.yaml}}\nsections:\n{section}")


def test_the_first_page_is_light_and_quick(page: Page, studio: ServedStudio) -> None:
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    received: list[float] = []
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    taken = []
    for _ in range(5):
        received.clear()
        page.goto(studio.url)
        paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        page.wait_for_function(f"{paint} > 0")
        taken.append(page.evaluate(paint) / 1000)
    size = sum(received)
    print(
        f"\nfirst page: {size / 1024:.1f} KiB, painted after {min(taken):.2f} s (best of 5), {max(taken):.2f} s (worst)"
    )
    assert size <= PAGE_BYTES
    assert min(taken) <= PAGE_SECONDS


def test_an_edit_is_on_the_screen_at_once(page: Page, studio: ServedStudio) -> None:
    core = studio.folder / "prompts" / "cms" / "agent.xml"
    before = core.read_text()
    page.goto(f"{studio.url}prompt?agent=cms")
    taken = []
    for number in range(6):
        word = f"edit number {number}."
        start = time.perf_counter()
        core.write_text(before.replace("</identity>", f"\n{word}</identity>"))
        page.get_by_text(word).first.wait_for(state="attached")
        taken.append(time.perf_counter() - start)
    core.write_text(before)
    print(f"\nedit to screen: {min(taken[1:]):.2f} s (best of 5), {max(taken[1:]):.2f} s (worst)")
    assert min(taken[1:]) <= EDIT_SECONDS


def test_no_frame_takes_long_while_a_thousand_tools_scroll(page: Page, browser: Browser, studio: ServedStudio) -> None:
    found = ",".join(f"tool_{number}" for number in range(TOOLS))
    page.goto(f"{studio.url}prompt?agent=many&found={found}")
    page.get_by_role("button", name="Unfold all").click()
    page.wait_for_timeout(500)
    assert page.evaluate("document.querySelector('#main').textContent.includes('numbered 999')")
    browser.start_tracing(
        page=page, categories=["devtools.timeline", "toplevel", "disabled-by-default-devtools.timeline"]
    )
    page.mouse.move(700, 600)
    for _ in range(60):
        page.mouse.wheel(0, 400)
        page.wait_for_timeout(16)
    trace = json.loads(browser.stop_tracing())
    assert (
        page.evaluate("Math.max(scrollY, ...[...document.querySelectorAll('pre')].map((each) => each.scrollTop))")
        > 2_000
    )
    longest = max(_tasks(trace["traceEvents"]), default=0.0)
    print(f"\nlongest task of the page while {TOOLS:,} tools scroll: {longest * 1000:.0f} ms")
    assert longest <= FRAME_SECONDS


def _tasks(events: list[dict[str, Any]]) -> Iterator[float]:
    """Seconds of processor time of each task of the page's own thread; what others took from it is not the page's."""
    names = {(each["pid"], each["tid"]): each["args"]["name"] for each in events if each["name"] == "thread_name"}
    for each in events:
        if each["name"] == "RunTask" and names.get((each["pid"], each["tid"])) == "CrRendererMain":
            yield each.get("tdur", each.get("dur", 0)) / 1_000_000
