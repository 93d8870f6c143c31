"""Skills over MCP, using its skills extension: read from a server, with every file checked against its digest."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import unquote, urlsplit

from mcp.shared.exceptions import MCPError
from mcp.types import PaginatedRequestParams, Request, Result
from pydantic import Field, ValidationError

from cuecard.adapters.mcp_client.answers import MAX_CURSOR
from cuecard.adapters.mcp_client.client import ToolServer, in_time
from cuecard.adapters.mcp_client.errors import CONNECTION_CLOSED, REQUEST_TIMEOUT, server_error
from cuecard.adapters.mcp_lines import MAX_LINE
from cuecard.config.skills.packages import MAIN, MAX_BYTES, MAX_FILES, SkillPackage, digest, make_package
from cuecard.errors import Problem, SpecError, ToolServerError, visible
from cuecard.model import Json

EXTENSION: Final = "io.modelcontextprotocol/skills"
MAX_SKILLS: Final = 1_000
"""The maximum number of skills of a server."""
_PAGES = 200


class _ListSkills(Request[PaginatedRequestParams, Literal["skills/list"]]):
    method: Literal["skills/list"] = "skills/list"
    params: PaginatedRequestParams


class _SkillListing(Result):
    skills: list[dict[str, Any]]
    next_cursor: str | None = Field(None, alias="nextCursor")


async def served_skills(server: ToolServer) -> tuple[tuple[SkillPackage, ...], tuple[Problem, ...]]:
    """The skills of a server, and a warning for each that was left out.

    Raises:
        ToolServerError: when the server has no skills, dies, does not answer, or lists endlessly.
    """
    with in_time(server.start.timeout):
        return await _served(server)


async def _served(server: ToolServer) -> tuple[tuple[SkillPackage, ...], tuple[Problem, ...]]:
    extensions = server.client.server_capabilities.extensions or {}
    if EXTENSION not in extensions:
        hint = f"it does not declare the extension `{EXTENSION}`, which newer versions of MCP define"
        raise ToolServerError(Problem("server-error", "the server serves no skills", hint, server.start.name))
    packages: dict[str, SkillPackage] = {}
    problems: list[Problem] = []
    for entry in await _entries(server):
        try:
            package = await _package(server, entry)
        except SpecError as error:
            problems += error.problems
            continue
        if package.name in packages:
            problems.append(_odd(server, f"the skill `{package.name}` is listed twice", "the first is used"))
        packages.setdefault(package.name, package)
    return tuple(packages.values()), tuple(problems)


async def _entries(server: ToolServer) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    seen: set[str | None] = set()
    cursor: str | None = None
    left = MAX_LINE
    while cursor not in seen and len(seen) < _PAGES and len(entries) <= MAX_SKILLS:
        seen.add(cursor)
        try:
            page = await server.client.session.send_request(
                _ListSkills(params=PaginatedRequestParams(cursor=cursor)), _SkillListing
            )
        except MCPError as error:
            raise server_error(error, server.start, server.said) from None
        except ValidationError:
            raise ToolServerError(
                _odd(server, "its list of skills is not valid", "report it to the server's authors", "server-output")
            ) from None
        left -= len(page.model_dump_json())
        if left < 0:
            break
        entries += page.skills
        cursor = page.next_cursor
        if cursor is None and len(entries) <= MAX_SKILLS:
            return entries
        if len(cursor or "") > MAX_CURSOR:
            break
    limits = f"at most {MAX_SKILLS:,} skills and {MAX_LINE:,} characters"
    hint = f"report it to the server's authors: {limits}, and each cursor must lead to a new page"
    raise ToolServerError(Problem("server-pages", "the server's list of skills is endless", hint, server.start.name))


async def _package(server: ToolServer, entry: Mapping[str, Json]) -> SkillPackage:
    """The skill of an entry, with all of its files read and checked.

    Raises:
        SpecError: when the entry is invalid, or a file does not match it.
        ToolServerError: when the server dies or does not answer.
    """
    uri, front, resources = entry.get("uri"), entry.get("frontmatter"), entry.get("resources")
    parts = _parts(uri)
    if len(parts) < 2 or parts[-1] != MAIN or not isinstance(front, dict):
        raise _skipped(server, f"{_quoted(str(uri))} is not a skill entry")
    name, shown = parts[-2], visible(parts[-2])[:64]
    if not isinstance(resources, list) or len(resources) > MAX_FILES:
        told = "lists no files" if not isinstance(resources, list) else f"has more than {MAX_FILES} files"
        raise _skipped(server, f"the skill `{shown}` {told}")
    files: dict[str, bytes] = {}
    left = MAX_BYTES
    for resource in resources:
        path = _within(resource, parts[:-1])
        if path is None:
            raise _skipped(server, f"a file of `{shown}` lies outside of the skill")
        files[path] = await _file(server, resource, left)
        left -= len(files[path])
    package = make_package(files, name, f"{server.start.name}: {shown}")
    if {key: package.front.get(key) for key in ("name", "description")} != {
        key: front.get(key) for key in ("name", "description")
    }:
        raise _skipped(server, f"the listing of the skill `{name}` differs from its {MAIN}")
    return package


async def _file(server: ToolServer, resource: Mapping[str, Json], left: int) -> bytes:
    uri = str(resource["uri"])
    try:
        answer = await server.client.read_resource(uri)
    except MCPError as error:
        if error.code in {CONNECTION_CLOSED, REQUEST_TIMEOUT}:
            raise server_error(error, server.start, server.said) from None
        raise _skipped(server, f"{_quoted(uri)}: {visible(error.message)[:200]}") from None
    except ValidationError:
        raise _skipped(server, f"{_quoted(uri)} is not a file") from None
    data = _data(answer.contents[0]) if len(answer.contents) == 1 else None
    if data is None or len(data) > left or digest(data) != resource.get("digest"):
        raise _skipped(server, f"{_quoted(uri)} does not match its digest")
    return data


def _data(content: Any) -> bytes | None:
    text = getattr(content, "text", None)
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(getattr(content, "blob", ""), validate=True)
    except (binascii.Error, TypeError, ValueError):
        return None


def _parts(uri: Json) -> list[str]:
    """The parts of an address, including its host; none if it could lead elsewhere."""
    try:
        split = urlsplit(uri) if isinstance(uri, str) else None
    except ValueError:
        split = None
    if split is None or not split.scheme:
        return []
    parts = [unquote(part) for part in (split.netloc, *split.path.split("/")) if part]
    odd = any(part in {".", ".."} or set(part) & set("/\\\0:") or part.startswith(".") for part in parts)
    return [] if odd else [split.scheme.lower(), *parts]


def _within(resource: Json, folder: list[str]) -> str | None:
    """The path of a file within a skill's folder; None if it is outside."""
    parts = _parts(resource.get("uri")) if isinstance(resource, dict) else []
    inside = parts[: len(folder)] == folder and len(parts) > len(folder)
    return "/".join(parts[len(folder) :]) if inside else None


def _quoted(uri: str) -> str:
    return f"`{visible(uri)[:120]}`"


def _skipped(server: ToolServer, message: str) -> SpecError:
    return SpecError(_odd(server, message, "the skill is skipped"))


def _odd(server: ToolServer, message: str, hint: str, code: str = "server-tool") -> Problem:
    severity: Literal["error", "warning"] = "warning" if code == "server-tool" else "error"
    return Problem(code, message, hint, server.start.name, severity=severity)
