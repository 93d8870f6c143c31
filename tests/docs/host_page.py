"""Runs the examples of the page of a host, and its programs, with nothing installed but what the page says.

`python tests/docs/host_page.py PAGE PACKAGE` ends with 0 if all of them run, and prints the version of the package.
Where a page sends requests, a service on loopback answers them.
"""

from __future__ import annotations

import os
import re
import runpy
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SCRIPT = ([("tool_search", {"query": "create a page"})], [("cms_createPage", {"title": "About us"})])
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
ADDRESSES = ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME")


def environment(url: str) -> dict[str, str]:
    """What clients read: keys of no worth, and the address of the service."""
    given = {**dict.fromkeys(KEYS, "none"), **dict.fromkeys(ADDRESSES, url)}
    return given | {"OPENAI_BASE_URL": f"{url}/v1", "AWS_DEFAULT_REGION": "us-east-1", "NO_PROXY": "127.0.0.1"}


def main(page: str, package: str) -> None:
    """Run them, in the order of the page."""
    sys.path.insert(0, str(ROOT / "examples" / "hosts"))
    os.chdir(ROOT)
    from loopback_models import loopback_models  # noqa: PLC0415 - it is found from here on

    text = (ROOT / "docs" / "hosts" / f"{page}.md").read_text(encoding="utf-8")
    typed: dict[str, object] = {"__name__": "__main__"}
    sends = "def say(" in text
    with loopback_models(SCRIPT) as service:
        os.environ.update(environment(service.url) if sends else {})
        for found in BLOCK.finditer(text):
            placed = "\n" * text.count("\n", 0, found.start(1)) + found[1]
            exec(compile(placed, f"{page}.md", "exec", dont_inherit=True), typed)  # noqa: S102 - that is what is asked
        if sends and not service.bodies:
            raise SystemExit(f"{page}.md has sent nothing")
    programs = sorted((ROOT / "examples" / "hosts").glob(f"{page.replace('-', '_')}_*.py"))
    for program in programs:
        sys.argv = [str(program)]
        if not (page == "openai" and program.stem.startswith("openai_agents")):
            runpy.run_path(str(program), run_name="__main__")
    print(f"\n{package} {version(package)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
