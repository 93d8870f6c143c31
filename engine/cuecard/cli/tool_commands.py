"""The commands about tools: `cuecard tools ...` and `cuecard bench search`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from cuecard.cli.options import AgentPath, AllowCode, Json

tools_app = typer.Typer(help="List, show and search the tools of an agent.", no_args_is_help=True)
bench_app = typer.Typer(help="Measure the search.", no_args_is_help=True)


@tools_app.command("list")
def tools_list(agent: AgentPath, json: Json = False, allow_code: AllowCode = False) -> None:
    """List the tools of an agent by category."""
    from cuecard.cli.tools import list_tools

    list_tools(agent, as_json=json, allow_code=allow_code)


@tools_app.command("show")
def tools_show(
    agent: AgentPath,
    name: Annotated[str, typer.Argument(help="The tool's name.")],
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Show one tool: its instructions, phrases, and the tools around it."""
    from cuecard.cli.tools import show_tool

    show_tool(agent, name, as_json=json, allow_code=allow_code)


@tools_app.command("search")
def tools_search(
    agent: AgentPath,
    query: Annotated[str, typer.Argument(help="A capability, such as 'attach an image'.")],
    limit: Annotated[int | None, typer.Option("--limit", help="The maximum number of tools.")] = None,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Search as the agent's search tool does, and tell why."""
    from cuecard.cli.tools import search_tools

    search_tools(agent, query, limit=limit, as_json=json, allow_code=allow_code)


@tools_app.command("add")
def tools_add(
    name: Annotated[str, typer.Argument(help="The new tool's name.")],
    agent: Annotated[
        Path,
        typer.Option("--agent", metavar="AGENT", help="The agent, or a (new or existing) file of tool instructions."),
    ] = Path(),
    json: Json = False,
) -> None:
    """Write a new entry with texts to fill in into the agent's tool instructions; nothing else changes there."""
    from cuecard.cli.tool_add import add_tool

    add_tool(name, agent, as_json=json)


@tools_app.command("import")
def tools_import(
    agent: AgentPath,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A JSON file of tools.")] = None,
    mcp: Annotated[str | None, typer.Option("--mcp", metavar="COMMAND", help="Start this tool server.")] = None,
    mcp_url: Annotated[str | None, typer.Option("--mcp-url", metavar="URL", help="Ask the tool server there.")] = None,
    openapi: Annotated[
        Path | None, typer.Option("--openapi", metavar="FILE", help="Import the operations of an OpenAPI description.")
    ] = None,
    into: Annotated[Path | None, typer.Option("--into", metavar="FILE", help="The file for new tools.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 when something differs.")] = False,
    trust: Annotated[
        Literal["data", "author"], typer.Option(help="How to treat the server's own tool instructions.")
    ] = "data",
    timeout: Annotated[float, typer.Option(min=0.1, help="Timeout of the server in seconds.")] = 60.0,
    json: Json = False,
) -> None:
    """Write real tools into the agent's files of tool instructions; tell what is new, changed and gone."""
    from cuecard.cli.tool_import.command import Options, Source, import_tools

    source = Source(mcp, mcp_url, openapi, file, timeout)
    raise typer.Exit(import_tools(agent, source, Options(into, check, trust, json)))


@tools_app.command("graph")
def tools_graph(
    agent: AgentPath,
    form: Annotated[
        Literal["mermaid", "dot"], typer.Option("--format", help="The language of the drawing.")
    ] = "mermaid",
    allow_code: AllowCode = False,
) -> None:
    """Draw which tool leads to which: BEFORE and NEXT as a graph."""
    from cuecard.cli.tools import draw_graph

    draw_graph(agent, form, allow_code=allow_code)


@tools_app.command("result")
def tools_result(
    agent: AgentPath,
    tool: Annotated[str, typer.Argument(help="The tool's name.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What it returned: JSON or text; - for standard input.")],
    error: Annotated[bool, typer.Option("--error", help="As if the call had failed.")] = False,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Show a result of a tool as the model would read it: by the templates under `results`."""
    from cuecard.cli.tool_result import show_result

    show_result(agent, tool, file, failed=error, as_json=json, allow_code=allow_code)


@tools_app.command("report")
def tools_report(
    records: Annotated[
        list[Path], typer.Argument(metavar="RECORDS...", help="Files or folders of manifests or of JSON lines.")
    ],
    agent: Annotated[
        Path | None, typer.Option("--agent", metavar="AGENT", help="The agent of the tools, to read their GOTCHA.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as an HTML page.")] = None,
    json: Json = False,
) -> None:
    """Tell what the field says of tools: found and never called, called unread, searches that find nothing."""
    from cuecard.cli.report.command import report

    report(records, agent=agent, as_json=json, html=html)


@bench_app.callback()
def bench() -> None:
    """Measure the search."""


@bench_app.command("search")
def bench_search(
    catalogue: Annotated[Path, typer.Argument(metavar="CATALOGUE", help="A JSON file of tools, or an agent.")],
    queries: Annotated[
        Path, typer.Argument(metavar="QUERIES", help="JSON lines, each with a query and the right tools.")
    ],
    ranker: Annotated[
        list[str] | None, typer.Option("--ranker", metavar="NAME", help="Only this ranker; repeatable.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, max=50, help="The maximum number of tools.")] = None,
    confidence: Annotated[
        float | None, typer.Option(min=0, max=1, help="A search with a lower confidence returns nothing.")
    ] = None,
    cut: Annotated[
        float | None, typer.Option(min=0, max=1, help="The share of the best score that a hit needs.")
    ] = None,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Measure how well each ranker finds the right tools, beside the baselines that are installed."""
    from cuecard.cli.bench.command import Options
    from cuecard.cli.bench.command import bench_search as command

    command(catalogue, queries, Options(ranker or (), limit, confidence, cut, json, allow_code))
