"""Photographs the studio for the docs: `make screenshots`. Needs the browser of `make browser`."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from studio.served import BROWSER, ROOT, ServedStudio, copies

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FOLDER = ROOT / "docs" / "studio"
MAX_BYTES = 150_000
"""A page with pictures is read on phones, too."""


def main() -> int:
    """Write every picture; the exit code."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - named only where pictures are taken

    if not BROWSER:
        sys.stderr.write("make screenshots: there is no chromium; `make browser` installs it\n")
        return 1
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        studio = ServedStudio(copies(Path(folder)), ["prompts/cms", "prompts/mistermorph"], ["--records", "recordings"])
        studio.start()
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        try:
            _photograph(browser, studio)
        finally:
            browser.close()
            studio.stop()
    return 0


def _photograph(browser: Browser, studio: ServedStudio) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
    page.goto(studio.entrance)
    _take(page, "first")
    page.goto(f"{studio.url}prompt?agent=cms")
    _choose(page, "append")
    page.locator("#step-1\\.3").click()
    page.wait_for_url("**step=1.3*")
    _take(page, "prompt")
    page.emulate_media(color_scheme="dark")
    page.reload()
    _take(page, "prompt-dark")
    page.emulate_media(color_scheme="light")
    page.goto(f"{studio.url}prompt?agent=cms")
    _choose(page, "rewrite")
    page.keyboard.press("2")
    page.wait_for_url("**/timeline?*")
    page.locator("#step-2\\.1").click()
    page.wait_for_url("**step=2.1*")
    _take(page, "timeline")
    page.goto(f"{studio.url}inputs?agent=mistermorph")
    page.get_by_role("combobox", name="Turn file").select_option("memory-private.yaml")
    page.wait_for_url("**turn=*")
    _take(page, "inputs")
    core = studio.folder / "prompts" / "cms" / "agent.xml"
    page.goto(f"{studio.url}prompt?agent=cms")
    core.write_text(core.read_text().replace("</identity>", "<identity>", 1))
    page.locator(".problem").first.wait_for()
    _take(page, "broken")


def _choose(page: Page, delivery: str) -> None:
    """Choose the recorded conversation as it is under a delivery."""
    run = page.locator("#w-run option", has_text=delivery).first.get_attribute("value")
    page.locator("#w-run").select_option(value=run)
    page.wait_for_url("**run=*")


def _take(page: Page, name: str) -> None:
    """Take what is visible, in the best quality that is small enough."""
    page.mouse.move(0, 0)
    page.wait_for_timeout(400)  # what is live has settled
    session = page.context.new_cdp_session(page)
    for quality in (90, 80, 70, 60, 50):
        taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": quality})
        data = base64.b64decode(taken["data"])
        if len(data) <= MAX_BYTES:
            break
    (FOLDER / f"{name}.webp").write_bytes(data)
    sys.stdout.write(f"docs/studio/{name}.webp: {len(data):,} bytes\n")


if __name__ == "__main__":
    sys.exit(main())
