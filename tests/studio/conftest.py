"""One browser and one studio for each module; where there is no browser, these tests are skipped.

While a browser is driven, an event loop runs in its thread: no test of another module could run one of its own then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from studio.served import BROWSER, ServedStudio, copies

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium as Debian packages it."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not BROWSER:
        pytest.skip("no chromium on this machine")
    playwright.expect.set_options(timeout=30_000)  # the machine may be busy with other tests
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--renderer-process-limit=1"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def studio(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedStudio]:
    """A studio of the CMS assistant and MisterMorph."""
    del browser  # where there is none, nothing is started
    folder = copies(tmp_path_factory.mktemp("studio"))
    served = ServedStudio(folder, ["prompts/cms", "prompts/mistermorph"], ["--records", "recordings"])
    served.start()
    yield served
    served.stop()
    assert not served.log, served.log


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A person's browser; nothing on any page may violate the content security policy, or fail."""
    made = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")
    made.set_default_timeout(30_000)
    made.set_default_navigation_timeout(90_000)  # an agent is read when it is first asked for
    wrong: list[str] = []
    made.on("console", lambda said: wrong.append(said.text) if _is_wrong(said) else None)
    made.on("weberror", lambda error: wrong.append(str(error.error)))
    yield made
    made.close()
    assert not wrong


@pytest.fixture
def page(context: BrowserContext, studio: ServedStudio) -> Page:
    """A tab of a browser that has been let in."""
    return studio.tab(context)


def _is_wrong(said: ConsoleMessage) -> bool:
    """Errors, but for those that tests bring about: a request given up for a newer one, a studio that is stopped."""
    expected = (
        "htmx:sendAbort",
        "htmx:afterRequest",
        "favicon.ico",
        "ERR_CONNECTION_REFUSED",
        "ERR_INCOMPLETE_CHUNKED",
        "status of 422",
    )
    return said.type == "error" and not any(each in said.text or each in said.location["url"] for each in expected)
