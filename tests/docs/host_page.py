"""Runs the examples of the page of an integration as a reader has them: beside the agent that `cuecard init` writes.

`python tests/docs/host_page.py PAGE PACKAGE` ends with 0 if they run, and the programs of examples/hosts for it, and
prints the version of the package; without a package, it runs the examples alone. A service on loopback plays the model.
"""

from __future__ import annotations

import os
import re
import runpy
import sys
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROVIDERS = {"anthropic": "Anthropic", "bedrock": "Amazon Bedrock", "gemini": "Gemini", "openai": "OpenAI"}
"""Of each client that a reader's own loop is around, the chapter of the page about it."""
CHAPTERS = {
    **{client: ("own-loop", chapter) for client, chapter in PROVIDERS.items()},
    "langchain": ("langchain", ""),
    "langchain-mcp": ("langchain", "MCP tools"),
}
"""Where what is run stands on a page that has others, too: the page, and the chapter."""
CALLED = {"langgraph": ("create an empty page", "cms_createPage")}
"""What is searched for and found where the page opens another agent than `notes`."""
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
ADDRESSES = ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME")
SERVER = """\
from mcp.server.fastmcp import FastMCP

server = FastMCP("notes")


@server.tool()
def add_note(title: str) -> dict[str, str]:
    "Save a new note."
    return {"title": title}


server.run()
"""
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
"""Frameworks that would send more than the page asks them to."""

IMPORTED = (
    "agents",
    "anthropic",
    "boto3",
    "cuecard.adapters.litellm_callback",
    "google.adk.agents",
    "google.adk.runners",
    "google.genai",
    "langchain.agents.middleware",
    "langchain.chat_models",
    "langgraph.prebuilt",
    "openai",
    "pydantic_ai",
)


def warm() -> None:
    """Import what takes the pages long, for a process of which each page is a fork."""
    os.environ.update(QUIET)
    for name in IMPORTED:
        import_module(name)


def environment(url: str) -> dict[str, str]:
    """What clients read: keys of no worth, and the address of the service."""
    given = {**dict.fromkeys(KEYS, "none"), **dict.fromkeys(ADDRESSES, url), **QUIET}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return given | {
        "PATH": path,
        "OPENAI_BASE_URL": f"{url}/v1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "NO_PROXY": "127.0.0.1",
    }


def examples(page: str) -> list[str]:
    """The Python of a page, each block at its own lines; of a page with several programs, what belongs to this one."""
    name, chapter = CHAPTERS.get(page, (page, ""))
    text = (ROOT / "docs" / "hosts" / f"{name}.md").read_text(encoding="utf-8")
    others = {each for of, each in CHAPTERS.values() if of == name and each != chapter}
    heads = [(found.start(), found[1]) for found in re.finditer(r"^## (.*)$", text, re.MULTILINE)]
    blocks = []
    for found in BLOCK.finditer(text):
        under = next((title for start, title in reversed(heads) if start < found.start()), "")
        needs_all = page in PROVIDERS or not chapter  # a loop begins with what is for each client
        if under == chapter or (needs_all and under not in others):
            blocks.append("\n" * text.count("\n", 0, found.start(1)) + found[1])
    return blocks


def stand_in() -> None:
    """In place of langchain-mcp-adapters where it is not installed: it wants another `mcp` than cuecard's own extra."""
    if find_spec("langchain_mcp_adapters"):
        return
    from langchain_core.tools import tool  # noqa: PLC0415 - only that page needs it

    @tool(response_format="content_and_artifact")
    async def add_note(title: str) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """Save a new note."""
        shown = [{"type": "text", "text": f'{{"title": "{title}"}}', "id": "lc_1"}]
        return shown, {"structured_content": {"title": title}}

    class Client:
        def __init__(self, servers: dict[str, Any]) -> None:
            self.servers = servers

        async def get_tools(self) -> list[Any]:
            return [add_note for server in self.servers.values() if server["args"] == ["notes_server.py"]]

    module: Any = ModuleType("langchain_mcp_adapters.client")
    module.MultiServerMCPClient = Client
    sys.modules |= {"langchain_mcp_adapters": ModuleType("langchain_mcp_adapters"), module.__name__: module}


def cuecard(*words: str) -> None:
    """Run the command in this process, which has imported most of it."""
    before, sys.argv = sys.argv, ["cuecard", *words]
    try:
        runpy.run_path(str(Path(sys.executable).with_name("cuecard")), run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.argv = before


def called(page: str) -> tuple[str, str]:
    """What the model searches for, and the tool that it calls then."""
    return CALLED.get(page, ("save a note", "add_note"))


def play(page: str) -> list[dict[str, Any]]:
    """Run the examples in the order of the page, and return the bodies that the model got."""
    sys.path.insert(0, str(ROOT / "examples" / "hosts"))
    from loopback_models import loopback_models  # noqa: PLC0415 - it is found from here on

    query, tool = called(page)
    script = ([("tool_search", {"query": query})], [(tool, {"title": "Plants"})])
    with TemporaryDirectory() as folder, loopback_models(script) as service:
        os.chdir(folder)
        cuecard("init", "notes")
        Path("notes_server.py").write_text(SERVER, encoding="utf-8")
        os.environ.update(environment(service.url))
        if page == "langchain-mcp":
            stand_in()
        typed: dict[str, object] = {"__name__": "__main__"}
        for code in examples(page):
            exec(compile(code, f"{page}.md", "exec", dont_inherit=True), typed)  # noqa: S102 - that is what is asked
        os.chdir(ROOT)
        return service.asked


def check(page: str, asked: list[dict[str, Any]]) -> None:
    """The instructions of a tool come with the search that finds it, and its result is told: in each loop."""
    instructions = f"<{called(page)[1]}>"
    loops = [asked[at : at + 3] for at in range(0, len(asked), 3)] if page in PROVIDERS else [asked[:3]]
    for first, second, third in [map(str, each) for each in loops]:
        told = (instructions not in first, instructions in second, instructions in third, "Plants" in third)
        if not all(told):
            raise SystemExit(f"{page}: the model was not told what the page says: {told}")


def main(page: str, package: str = "") -> None:
    """Run the examples; with a package, its programs, too."""
    check(page, play(page))
    if not package:
        return
    for program in sorted((ROOT / "examples" / "hosts").glob(f"{page.replace('-', '_')}_*.py")):
        sys.argv = [str(program)]
        if not (page == "openai" and program.stem.startswith("openai_agents")):
            runpy.run_path(str(program), run_name="__main__")
    print(f"\n{package} {version(package)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
