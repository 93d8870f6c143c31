"""Commands about tools, MCP and skills."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

from cuecard.cli.options import HERE, AgentPath, AllowCode, Json
from cuecard.cli.signatures import Argument, Group, Option


def tools_list(agent: AgentPath, json: Json = False, allow_code: AllowCode = False) -> None:
    """List the tools of an agent by category."""
    from cuecard.workbench.tools import list_tools

    list_tools(agent, as_json=json, allow_code=allow_code)


def tools_show(
    agent: AgentPath,
    name: Annotated[str, Argument(help="The tool's name.")],
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Show one tool: its instructions, phrases, and the tools around it."""
    from cuecard.workbench.tools import show_tool

    show_tool(agent, name, as_json=json, allow_code=allow_code)


def tools_search(
    agent: AgentPath,
    query: Annotated[str, Argument(help="A capability, such as 'attach an image'.")],
    limit: Annotated[int | None, Option(help="The maximum number of tools.")] = None,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Search as the agent's search tool does, and tell why."""
    from cuecard.workbench.tools import search_tools

    search_tools(agent, query, limit=limit, as_json=json, allow_code=allow_code)


def tools_add(
    name: Annotated[str, Argument(help="The name of a new tool, or of one under `described:`.")],
    where: Annotated[
        Path | None,
        Argument(metavar="[AGENT]", help="The agent, or a (new or existing) file of tool instructions."),
    ] = None,
    agent: Annotated[Path | None, Option(metavar="AGENT", help="The same, as an option.")] = None,
    json: Json = False,
) -> None:
    """Give a new or described tool an entry with texts to fill in; nothing else changes in its file."""
    from cuecard.errors import InputError, Problem
    from cuecard.workbench.tool_add import add_tool

    if where is not None and agent is not None:
        told = f"two agents are named: `{where}` and `{agent}`"
        raise InputError(Problem("wrong-option", told, "name one of them", "--agent"))
    add_tool(name, where or agent or Path(), as_json=json)


def tools_import(
    agent: AgentPath,
    file: Annotated[Path | None, Argument(metavar="[FILE]", help="A JSON file of tools.")] = None,
    mcp: Annotated[str | None, Option(metavar="COMMAND", help="Start this tool server.")] = None,
    mcp_url: Annotated[str | None, Option(metavar="URL", help="Ask the tool server there.")] = None,
    openapi: Annotated[
        Path | None, Option(metavar="FILE", help="Import the operations of an OpenAPI description.")
    ] = None,
    into: Annotated[Path | None, Option(metavar="FILE", help="The file for new tools.")] = None,
    check: Annotated[bool, Option(help="Write nothing; exit with 1 when something differs.")] = False,
    trust: Annotated[
        Literal["data", "author"], Option(help="How to treat the server's own tool instructions.")
    ] = "data",
    source: Annotated[
        str | None, Option(metavar="NAME", help="The name of the source here, whatever its title is.")
    ] = None,
    prefix: Annotated[str | None, Option(help="What the names of its tools begin with here; kept.")] = None,
    keep: Annotated[
        list[str] | None, Option(metavar="NAME", help="Keep the entry of this removed tool; repeatable.")
    ] = None,
    timeout: Annotated[float, Option(least=0.1, help="Timeout of the server in seconds.")] = 60.0,
    json: Json = False,
) -> int:
    """Write real tools into the agent's files of tool instructions; tell what is new, changed, renamed and gone."""
    from cuecard.workbench.tool_import.command import ImportOptions, ImportSource, import_tools

    if file is None and agent.suffix == ".json":
        agent, file = HERE, agent
    asked = ImportSource(mcp, mcp_url, openapi, file, timeout)
    return import_tools(agent, asked, ImportOptions(into, check, trust, source, prefix, keep or (), json))


def tools_graph(
    agent: AgentPath,
    form: Annotated[
        Literal["mermaid", "dot"], Option(name="--format", help="The language of the drawing.")
    ] = "mermaid",
    allow_code: AllowCode = False,
    json: Json = False,
) -> None:
    """Draw which tool leads to which: BEFORE and NEXT as a graph."""
    from cuecard.workbench.tools import draw_graph

    draw_graph(agent, "json" if json else form, allow_code=allow_code)


def tools_result(
    agent: AgentPath,
    tool: Annotated[str, Argument(help="The tool's name.")],
    file: Annotated[Path, Argument(metavar="FILE", help="What it returned: JSON or text; - for standard input.")],
    error: Annotated[bool, Option(help="As if the call had failed.")] = False,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Show a result of a tool as the model would read it: by the templates under `results`."""
    from cuecard.workbench.tools import show_result

    show_result(agent, tool, file, failed=error, as_json=json, allow_code=allow_code)


def tools_report(
    records: Annotated[
        list[Path], Argument(metavar="RECORDS...", help="Files or folders of manifests or of JSON lines.")
    ],
    agent: Annotated[Path | None, Option(metavar="AGENT", help="The agent of the tools, to read their GOTCHA.")] = None,
    html: Annotated[Path | None, Option(metavar="FILE", help="Write the report as an HTML page.")] = None,
    json: Json = False,
) -> None:
    """Tell what the field says of tools: found and never called, called unread, searches that find nothing."""
    from cuecard.workbench.field.command import report

    report(records, agent=agent, as_json=json, html=html)


def bench_search(
    catalogue: Annotated[Path, Argument("A JSON file of tools, or an agent; default: .", "[CATALOGUE]", HERE)],
    queries: Annotated[Path, Argument(metavar="QUERIES", help="JSON lines, each with a query and the right tools.")],
    ranker: Annotated[list[str] | None, Option(metavar="NAME", help="Only this ranker; repeatable.")] = None,
    limit: Annotated[int | None, Option(least=1, most=50, help="The maximum number of tools.")] = None,
    confidence: Annotated[
        float | None, Option(least=0, most=1, help="A search with a lower confidence returns nothing.")
    ] = None,
    cut: Annotated[float | None, Option(least=0, most=1, help="The share of the best score that a hit needs.")] = None,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Measure how well each ranker finds the right tools, beside the baselines that are installed."""
    from cuecard.workbench.bench.command import BenchOptions
    from cuecard.workbench.bench.command import bench_search as command

    command(catalogue, queries, BenchOptions(ranker or (), limit, confidence, cut, json, allow_code))


TOOLS: Final = Group(
    "List, show and search the tools of an agent.",
    {
        "list": tools_list,
        "show": tools_show,
        "search": tools_search,
        "add": tools_add,
        "import": tools_import,
        "graph": tools_graph,
        "result": tools_result,
        "report": tools_report,
    },
)
BENCH: Final = Group("Measure the search.", {"search": bench_search})


_Check = Annotated[bool, Option(help="Write nothing; exit with 1 when something differs.")]
_Update = Annotated[bool, Option(help="Overwrite existing files that differ.")]


def mcp(agent: AgentPath, allow_code: AllowCode = False) -> None:
    """Serve an agent to any MCP client: its prompt, its search tool, and its skills."""
    from cuecard.workbench.mcp import serve_over_mcp

    serve_over_mcp(agent, allow_code=allow_code)


def skills_export(
    agent: AgentPath,
    into: Annotated[Path, Argument(metavar="DIR", help="The folder of skills.")],
    check: _Check = False,
    update: _Update = False,
    json: Json = False,
) -> int:
    """Write an agent's skills, and the instructions of its tools as skills."""
    from cuecard.workbench.skills import export_skills

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
    from cuecard.workbench.skills import import_skills

    options = {"check": check, "update": update, "as_json": json}
    return import_skills(into, mcp=mcp, url=mcp_url, timeout=timeout, **options)


SKILLS: Final = Group(
    "Write skills into a folder: an agent's own, or those of an MCP server.",
    {"export": skills_export, "import": skills_import},
)
