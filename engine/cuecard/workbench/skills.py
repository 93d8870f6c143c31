"""`cuecard skills`: an agent's skills written into a folder, and those of an MCP server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from cuecard.config.skills.packages import SkillPackage
from cuecard.errors import InputError, Problem, visible
from cuecard.files.roots import shown
from cuecard.files.server_process import server_command
from cuecard.files.skill_packages import differing, write_files
from cuecard.workbench.mcp import packages_of, tell
from cuecard.workbench.output import counted, json_text, require
from cuecard.workbench.step import open_engine


def export_skills(agent: Path, into: Path, *, check: bool, update: bool, as_json: bool) -> int:
    """Write the agent's skills, and the instructions of its tools as skills; 1 when `check` finds a difference.

    Raises:
        SpecError: with every problem of the agent's files.
        InputError: when a different file exists already.
    """
    return _written(packages_of(open_engine(agent), agent), into, check=check, update=update, as_json=as_json)


def import_skills(
    into: Path, *, mcp: str | None, url: str | None, timeout: float, check: bool, update: bool, as_json: bool
) -> int:
    """Write the skills of a server into a folder; 1 when `check` finds a difference.

    Raises:
        InputError: when not exactly one server is named, or a different file exists already.
        ToolServerError: when the server serves no skills, or cannot be reached.
    """
    if (mcp is None) == (url is None):
        hint = "use either --mcp COMMAND or --mcp-url URL"
        raise InputError(Problem("wrong-option", "name exactly one server", hint, "skills import"))
    require("cuecard skills import", "mcp", {"mcp": "mcp"})
    packages = asyncio.run(_served(mcp, url, timeout))
    return _written(packages, into, check=check, update=update, as_json=as_json)


async def _served(mcp: str | None, url: str | None, seconds: float) -> tuple[SkillPackage, ...]:
    from cuecard.adapters.mcp_client.client import open_server
    from cuecard.adapters.mcp_client.http import open_http_server
    from cuecard.adapters.mcp_client.skills import served_skills

    opened = (
        open_server(server_command(mcp or "", seconds), modern=True)
        if url is None
        else open_http_server(url, seconds, modern=True)
    )
    async with opened as server:
        packages, problems = await served_skills(server)
    tell(problems)
    return packages


def _written(packages: Sequence[SkillPackage], into: Path, *, check: bool, update: bool, as_json: bool) -> int:
    files: dict[Path, bytes] = {}
    there: list[Path] = []
    for package in packages:
        other, known = differing(package, into)
        files |= other
        there += known
    if there and not (check or update):
        hint = "review the change, and accept it with `--update`"
        raise InputError(
            Problem("file-exists", "the file already exists with different content", hint, shown(p)) for p in there
        )
    if not check:
        write_files(files)
    paths = [shown(path) for path in files]
    if as_json:
        names = [package.name for package in packages]
        print(json_text({"skills": names, "differs": bool(paths), "written": [] if check else paths}))
    else:
        verb = "differs" if check else "wrote"
        print(f"{counted(len(packages), 'skill')}, {counted(len(paths), 'file')} {'differ' if check else 'written'}")
        for path in paths:
            print(visible(f"  {verb}  {path}"))
    return 1 if check and paths else 0
