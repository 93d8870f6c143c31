"""The versions of frameworks: `python .ci/hosts.py --write`, `--latest`, `--floor`.

`--write` puts into the adapters what pyproject.toml and the lock say. The others run the page and the programs of each
host in a fresh environment, from a wheel of this checkout: with the newest releases, or with the oldest that it allows.
"""

# ruff: noqa: INP001, T201 - a script, which prints what it finds

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLIENTS = ROOT / "engine" / "cuecard" / "adapters" / "clients.py"
UV = ROOT / ".tools" / "bin" / "uv"
FRAMEWORKS = {
    "adk": "google-adk",
    "langchain": "langchain",
    "langchain-mcp": "langchain",
    "langgraph": "langgraph",
    "litellm": "litellm",
    "openai-agents": "openai-agents",
    "pydantic-ai": "pydantic-ai-slim",
}
"""By page, the package whose versions count; the extra that brings it is found in pyproject.toml."""
PROVIDERS = {"anthropic": "anthropic", "bedrock": "boto3", "gemini": "google-genai", "openai": "openai"}
"""By chapter of the page about loops, the client."""
BESIDE = {
    "langchain": ["langchain-anthropic"],
    "langchain-mcp": ["langchain-anthropic", "langchain-mcp-adapters"],
    "langgraph": ["langchain", "langchain-anthropic"],
    "litellm": ["openai"],
    "pydantic-ai": ["anthropic"],
}
"""What a page or program imports beside that."""


def floors() -> dict[str, tuple[str, str]]:
    """Of each package that an extra of cuecard names, the oldest version that works, and the extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = {
        wanted[1]: (wanted[2], extra)
        for extra, packages in project["optional-dependencies"].items()
        for package in packages
        if (wanted := re.match(r"([\w-]+)>=([\d.]+)", package))
    }
    return {package: found[package] for package in [*FRAMEWORKS.values(), "mcp"]}


def locked() -> dict[str, str]:
    """The versions that the tests run."""
    lock = (ROOT / "requirements" / "dev.lock").read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w-]+)==([^\s;]+)", lock, re.MULTILINE))


def written() -> str:
    """The adapters' module with what pyproject.toml and the lock say."""
    newest = locked()
    tried = ", ".join(f'"{name}": "{newest[name]}"' for name in sorted(PROVIDERS.values()))
    ranges = [f'    "{name}": ("{floor}", "{newest[name]}"),\n' for name, (floor, _) in sorted(floors().items())]
    text = CLIENTS.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^(TRIED: .*? = \{).*\}$", lambda found: f"{found[1]}{tried}}}", text)
    return re.sub(r"(?m)^(TESTED: .*? = \{\n)(?:    .*\n)*\}", lambda found: f"{found[1]}{''.join(ranges)}}}", text)


def run(page: str, *, floor: bool) -> bool:
    """Run the page of a host in a fresh environment, and say with what version; whether it went well."""
    home = ROOT / ".tools" / "hosts" / f"{page}-{'floor' if floor else 'latest'}"
    oldest = {**{name: at for name, (at, _) in floors().items()}, **tried()}
    package = FRAMEWORKS.get(page) or PROVIDERS[page]
    own = f"{ROOT}[{floors()[package][1]}]" if package in FRAMEWORKS.values() else str(ROOT)
    pinned = f"{package}=={oldest[package]}" if floor else package
    python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    commands = [
        [UV, "venv", "--quiet", "--clear", "--python", sys.executable, home],
        [UV, "pip", "install", "--quiet", "--python", python, own, pinned, *BESIDE.get(page, [])],
        [python, ROOT / "tests" / "docs" / "host_page.py", page, package],
    ]
    for command in commands:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{page:14} {pinned}: failed\n{done.stderr[-2000:]}", flush=True)
            return False
    print(f"{page:14} {done.stdout.splitlines()[-1]}", flush=True)
    return True


def tried() -> dict[str, str]:
    """The versions of providers' clients that the pages name, from the adapters' module."""
    line = next(line for line in CLIENTS.read_text(encoding="utf-8").splitlines() if line.startswith("TRIED"))
    return dict(re.findall(r'"([\w-]+)": "([\d.]+)"', line))


def main() -> int:
    """Write the versions, or run the pages; 1 if one fails."""
    parser = argparse.ArgumentParser()
    what = parser.add_mutually_exclusive_group(required=True)
    for option in ("--write", "--latest", "--floor"):
        what.add_argument(option, action="store_true")
    parser.add_argument("pages", nargs="*", help="by default, all of them")
    options = parser.parse_args()
    if options.write:
        CLIENTS.write_text(written(), encoding="utf-8")
        return 0
    pages = options.pages or [*FRAMEWORKS, *PROVIDERS]
    failed = [page for page in pages if not run(page, floor=options.floor)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
