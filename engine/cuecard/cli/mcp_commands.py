"""The commands that talk to other programs over MCP: `cuecard mcp`, and `cuecard skills ...`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from cuecard.cli.groups import Group
from cuecard.cli.options import AgentPath, AllowCode, Json
from cuecard.cli.signatures import Argument, Option

_Check = Annotated[bool, Option(help="Write nothing; exit with 1 when something differs.")]
_Update = Annotated[bool, Option(help="Overwrite existing files that differ.")]


def mcp(agent: AgentPath, allow_code: AllowCode = False) -> None:
    """Serve an agent to any MCP client: its prompt, its search tool, and its skills."""
    from cuecard.cli.mcp_command import serve_over_mcp

    serve_over_mcp(agent, allow_code=allow_code)


def skills_export(
    agent: AgentPath,
    into: Annotated[Path, Argument(metavar="DIR", help="The folder of skills.")],
    check: _Check = False,
    update: _Update = False,
    json: Json = False,
) -> int:
    """Write an agent's skills, and the instructions of its tools as skills."""
    from cuecard.cli.skills_command import export_skills

    return export_skills(agent, into, check=check, update=update, as_json=json)


def skills_import(
    into: Annotated[Path, Argument(metavar="DIR", help="The folder of skills.")],
    mcp: Annotated[str | None, Option(metavar="COMMAND", help="Start this server.")] = None,
    mcp_url: Annotated[str | None, Option(metavar="URL", help="Ask the server there.")] = None,
    timeout: Annotated[float, Option(least=0.1, help="Timeout of the server in seconds.")] = 60.0,
    check: _Check = False,
    update: _Update = False,
    json: Json = False,
) -> int:
    """Write the skills of an MCP server into a folder, each file held against its SHA-256."""
    from cuecard.cli.skills_command import import_skills

    options = {"check": check, "update": update, "as_json": json}
    return import_skills(into, mcp=mcp, url=mcp_url, timeout=timeout, **options)


SKILLS: Final = Group(
    "Write skills into a folder: an agent's own, or those of an MCP server.",
    {"export": skills_export, "import": skills_import},
)
