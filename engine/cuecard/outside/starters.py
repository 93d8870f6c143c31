"""The files that `cuecard init` writes: a small working agent, with turns that test it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from cuecard.config.json_schema import schemas
from cuecard.outside.content import content_root

Kind: TypeAlias = Literal["minimal", "sections", "cms"]
"""One template and two tools; a list of sections and two tools; the whole content management system."""

KINDS: tuple[Kind, ...] = get_args(Kind)

_RENAMED = {"editor.json": ".vscode/settings.json", "pre-commit.yml": ".pre-commit-config.yaml"}
"""The names of dotfiles, and the names under which a wheel contains them."""

BESIDE = frozenset({"README.md", *_RENAMED.values()})
"""Files that a project may already have, and that the agent does not need."""

_AGENT_NAME = re.compile(r"^agent: \S+$", re.MULTILINE)
_MODELINE = re.compile(r"^# yaml-language-server: .*\n", re.MULTILINE)


def starter(kind: Kind, name: str) -> Mapping[str, str]:
    """The files of a starter, as paths and texts.

    Args:
        kind: which one.
        name: the agent's name.
    """
    root = content_root()
    folder = root / "examples" / "starters"
    files = {**_texts(folder / "common"), **_texts(folder / kind)}
    if kind == "cms":
        cms = root / "prompts" / "cms"
        tools = _texts(root / "tool_instructions" / "cms", "tool_instructions/")
        files |= {"agent.xml": (cms / "agent.xml").read_text(encoding="utf-8"), **tools}
        agent = (cms / "agent.yaml").read_text(encoding="utf-8")
        files["agent.yaml"] = agent.replace("../../tool_instructions/cms", "tool_instructions")
    files["agent.yaml"] = _AGENT_NAME.sub(f"agent: {name}", files["agent.yaml"], count=1)
    written = {_RENAMED.get(path, path): _MODELINE.sub("", text) for path, text in files.items()}
    return {**written, **{f".schemas/{path}": text for path, text in schemas().items()}}


def _texts(folder: Path, under: str = "") -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "snapshots" not in path.parts)
    return {f"{under}{path.relative_to(folder).as_posix()}": path.read_text(encoding="utf-8") for path in files}
