"""The CMS as an MCP server on stdio, and a way to look at its content from outside.

python server.py --data DIR                        serve; the site is made on the first start
python server.py --data DIR --snapshot             print the whole content as JSON
python server.py --data DIR --changes BEFORE.json  print what has changed since that snapshot
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cms.database import Database
from cms.errors import CmsError
from cms.seed import open_site
from cms.snapshot import Snapshot, changes, snapshot
from cms.tools import TOOLS, call

if TYPE_CHECKING:
    from mcp import types
    from mcp.server import Server

_PAGE: Final = 20  # tools per page of tools/list: a client must follow the cursor to see them all


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; the exit code, 2 when the site cannot be opened or served."""
    options = _options(argv)
    try:
        if options.fresh:
            _forget(options.data)
        db = open_site(options.data, clock=lambda: options.now or datetime.now(UTC))
    except (OSError, sqlite3.Error, CmsError) as error:
        sys.stderr.write(f"cannot open the site in {options.data}: {error}\n")
        return 2
    with closing(db):
        if options.snapshot:
            sys.stdout.write(json.dumps(snapshot(db), indent=2, ensure_ascii=False) + "\n")
        elif options.changes is not None:
            told = "\n".join(map(str, changes(options.changes, snapshot(db))))
            sys.stdout.write(f"{told or 'nothing has changed'}\n")
        elif find_spec("mcp") is None:
            sys.stderr.write('serving needs the package mcp: pip install "cuecard[mcp]"\n')
            return 2
        else:
            import asyncio  # noqa: PLC0415 - a snapshot needs no loop

            asyncio.run(_serve(db))
    return 0


def build_server(db: Database) -> Server[Any]:
    """The MCP server of an open site."""
    from mcp import MCPError, types  # noqa: PLC0415 - a snapshot needs no mcp
    from mcp.server import Server  # noqa: PLC0415 - the same

    listed = [_describe(name) for name in TOOLS]

    async def list_tools(_context: object, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        cursor = (params and params.cursor) or "0"
        if not cursor.isdecimal():
            raise MCPError(types.INVALID_PARAMS, f"`{cursor}` is not a cursor of this server")
        end = int(cursor) + _PAGE
        return types.ListToolsResult(
            tools=listed[end - _PAGE : end], next_cursor=str(end) if end < len(listed) else None
        )

    async def call_tool(_context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            result, failed = call(db, params.name, params.arguments), False
        except CmsError as error:
            result, failed = error.to_json(), True
        text = types.TextContent(type="text", text=json.dumps(result, ensure_ascii=False))
        return types.CallToolResult(content=[text], structured_content=result, is_error=failed)

    return Server("cms", on_list_tools=list_tools, on_call_tool=call_tool)


def _describe(name: str) -> types.Tool:
    from mcp import types  # noqa: PLC0415 - a snapshot needs no mcp

    tool = TOOLS[name]
    hints = types.ToolAnnotations(read_only_hint=tool.reads_only, destructive_hint=tool.asks_first)
    return types.Tool(name=name, description=tool.description, input_schema=tool.input_schema, annotations=hints)


async def _serve(db: Database) -> None:
    from mcp.server.stdio import stdio_server  # noqa: PLC0415 - a snapshot needs no mcp

    server = build_server(db)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A small CMS as an MCP server on stdio.")
    add = parser.add_argument
    add("--data", type=Path, required=True, metavar="DIR", help="where the site lives")
    add("--fresh", action="store_true", help="forget the site in DIR and make it anew")
    add("--now", type=_time, default=os.environ.get("CMS_NOW"), metavar="TIME", help="stop the clock at an ISO time")
    add("--snapshot", action="store_true", help="print the whole content as JSON")
    add("--changes", type=_saved_snapshot, metavar="FILE", help="print what has changed since a snapshot")
    return parser.parse_args(argv)


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is not a time such as 2026-01-05T09:00:00Z") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _saved_snapshot(path: str) -> Snapshot:
    try:
        saved: Snapshot = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"`{path}` is not a snapshot: {error}") from None
    return saved


def _forget(folder: Path) -> None:
    for path in [*folder.glob("cms.sqlite3*"), *folder.glob("uploads/*.png")]:
        path.unlink()


if __name__ == "__main__":
    sys.exit(main())
