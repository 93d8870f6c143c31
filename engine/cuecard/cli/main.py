"""The command line: every command and option in one table; what a command does is imported when it runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

import cuecard
from cuecard.errors import CuecardError, InputError, SettingsError

app = typer.Typer(
    name="cuecard",
    help="Prompts as built artefacts: lean, checked, counted, and growing only with what the agent discovers.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
tools_app = typer.Typer(help="List, show and search the tools of an agent.", no_args_is_help=True)
app.add_typer(tools_app, name="tools")
bench_app = typer.Typer(help="Measure the search.", no_args_is_help=True)
app.add_typer(bench_app, name="bench")

ASSISTANT_HELP = "The assistant file, such as examples/cms/assistant.yaml."
AssistantPath = Annotated[Path, typer.Argument(metavar="AGENT", help=ASSISTANT_HELP)]
AgentPath = Annotated[Path, typer.Argument(metavar="AGENT", help="The agent file, or a folder with agent.yaml.")]
ToolName = Annotated[str, typer.Argument(metavar="TOOL", help="The tool's name.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Format = Annotated[Literal["text", "json", "github"], typer.Option(help="For people, for machines, or for GitHub.")]
DeliveryOption = Annotated[
    Literal["rewrite", "append", "frozen", "auto"] | None,
    typer.Option("--delivery", help="Override the agent file's delivery."),
]
SIDE_HELP = "An agent, REV:PATH of an agent in git, a turn file, or JSON of `cuecard render`."
Discovered = Annotated[str, typer.Option("--discovered", metavar="A,B", help="As if the search had found these tools.")]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A value for an input; repeatable.")]
AllowCode = Annotated[
    bool, typer.Option("--allow-code", help="Load the function that the agent file names as its ranker.")
]
TurnFile = Annotated[Path | None, typer.Option("--turn", metavar="FILE", help="A turn file (YAML): inputs, memory ...")]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"cuecard {cuecard.__version__}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Prompts as built artefacts: lean, checked, counted, and growing only with what the agent discovers."""


@app.command()
def run(
    assistant: Annotated[
        Path, typer.Argument(metavar="AGENT", help="The assistant file, such as examples/cms/assistant.yaml.")
    ],
    scenario: Annotated[
        list[str] | None, typer.Option("--scenario", help="Play only this scenario; repeatable.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="A pydantic-ai model name; without it, a scripted model.")
    ] = None,
    delivery: DeliveryOption = None,
    json: Json = False,
    manifests: Annotated[
        Path | None, typer.Option("--manifests", metavar="DIR", help="Write a manifest per step.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Keep the tool server's data here.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw what was shown into an SVG file.")] = None,
    allow_code: AllowCode = False,
) -> None:
    """Run an assistant: play its scenarios, or chat with a model."""
    from cuecard.cli.run.command import run as command

    raise typer.Exit(
        command(
            assistant,
            model=model,
            scenarios=scenario or (),
            json=json,
            manifests=manifests,
            data=data,
            delivery=delivery,
            svg=svg,
            allow_code=allow_code,
        )
    )


@app.command()
def render(
    agent: AgentPath,
    discovered: Discovered = "",
    set_: Set = None,
    turn: TurnFile = None,
    delivery: DeliveryOption = None,
    json: Json = False,
    manifest: Annotated[bool, typer.Option("--manifest", help="Print only the manifest, as JSON: no text.")] = False,
    messages: Annotated[bool, typer.Option("--messages", help="Print the whole message stack, as JSON.")] = False,
    compiled: Annotated[
        bool, typer.Option("--compiled", help="Print stable and dynamic text with fingerprints and sources, as JSON.")
    ] = False,
    allow_code: AllowCode = False,
) -> None:
    """Print the prompt of one step."""
    from cuecard.cli.render import Form
    from cuecard.cli.render import render as command

    chosen: dict[Form, bool] = {"manifest": manifest, "messages": messages, "compiled": compiled, "json": json}
    form: Form = next((name for name, wanted in chosen.items() if wanted), "text")
    command(
        agent, discovered=discovered, values=set_ or [], turn=turn, delivery=delivery, form=form, allow_code=allow_code
    )


@app.command()
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help=SIDE_HELP)],
    after: Annotated[str, typer.Argument(metavar="B", help="The same for the later prompt.")],
    agent: Annotated[Path | None, typer.Option("--agent", metavar="AGENT", help="Whose turns turn files are.")] = None,
    turn: TurnFile = None,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="What it costs on this model.")] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 when the prompts differ.")] = False,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Compare two prompts: what changed, why, and what the provider's cache loses by it."""
    from cuecard.cli.diff.command import diff as command
    from cuecard.cli.diff.sides import Reading

    reading = Reading(agent, turn, allow_code=allow_code)
    raise typer.Exit(command(before, after, reading, model=model, as_json=json, exit_code=exit_code))


@app.command()
def check(
    agent: AgentPath,
    format: Format = "text",
    select: Annotated[str, typer.Option(metavar="A,B", help="Only these codes, or codes that begin so.")] = "",
    ignore: Annotated[str, typer.Option(metavar="A,B", help="Not these codes.")] = "",
    json: Json = False,
) -> None:
    """Check every file of an agent and report all problems at once."""
    from cuecard.cli.check.command import check as command

    raise typer.Exit(command(agent, format="json" if json else format, select=select, ignore=ignore))


@app.command()
def tokens(
    agent: AgentPath,
    discovered: Discovered = "",
    set_: Set = None,
    turn: TurnFile = None,
    delivery: DeliveryOption = None,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Show what each section of the prompt costs."""
    from cuecard.cli.tokens import tokens as command

    command(
        agent,
        discovered=discovered,
        values=set_ or [],
        turn=turn,
        delivery=delivery,
        as_json=json,
        allow_code=allow_code,
    )


@app.command()
def replay(
    agent: AgentPath,
    transcript: Annotated[Path, typer.Argument(metavar="TRANSCRIPT", help="A recorded conversation, or a log.")],
    from_: Annotated[
        Literal["auto", "cuecard", "pydantic-ai", "openai", "anthropic"],
        typer.Option("--from", help="Who recorded it."),
    ] = "auto",
    delivery: Annotated[
        list[str] | None,
        typer.Option("--delivery", metavar="NAME", help="append, rewrite or frozen; repeatable, all by default."),
    ] = None,
    definitions: Annotated[
        Literal["deferred", "all"],
        typer.Option(help="Definitions of discovered tools: sent when found, or all from the start."),
    ] = "deferred",
    model: Annotated[
        list[str] | None, typer.Option("--model", metavar="NAME", help="A model to bill for; repeatable.")
    ] = None,
    models: Annotated[Path | None, typer.Option("--models", metavar="FILE", help="Model profiles of your own.")] = None,
    set_: Set = None,
    recommend: Annotated[bool, typer.Option("--recommend", help="Name the cheapest delivery, and until when.")] = False,
    json: Json = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as a page with charts.")] = None,
    allow_code: AllowCode = False,
) -> None:
    """Play a recorded conversation, and show what it costs under each delivery."""
    from cuecard.cli.replay.command import Options
    from cuecard.cli.replay.command import replay as command

    options = Options(from_, delivery or (), definitions, model or (), models, set_ or (), recommend, html, json)
    command(agent, transcript, options, allow_code=allow_code)


@app.command()
def watch(
    agent: AgentPath,
    discovered: Discovered = "",
    set_: Set = None,
    turn: TurnFile = None,
    delivery: DeliveryOption = None,
    json: Json = False,
    states: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep good states here.")] = None,
    allow_code: AllowCode = False,
) -> None:
    """Follow an agent's files: a line per change, and a picture of what is refused."""
    from cuecard.cli.watch.command import watch as command
    from cuecard.cli.watch.view import Example

    example = Example(discovered, set_ or [], turn)
    raise typer.Exit(
        command(agent, example=example, delivery=delivery, as_json=json, states=states, allow_code=allow_code)
    )


@app.command()
def schema(
    write: Annotated[
        Path | None, typer.Option("--write", metavar="DIR", help="Write all schemas into a folder.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page that lists every key.")] = False,
) -> None:
    """Print the JSON Schemas of the YAML files, for editors."""
    from cuecard.cli.schema import schema as command

    command(write, markdown=markdown)


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
    limit: Annotated[int | None, typer.Option("--limit", help="How many tools at most.")] = None,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Search as the agent's search tool does, and tell why."""
    from cuecard.cli.tools import search_tools

    search_tools(agent, query, limit=limit, as_json=json, allow_code=allow_code)


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


@bench_app.callback()
def bench() -> None:
    """Measure the search."""


@bench_app.command("search")
def bench_search(
    catalogue: Annotated[Path, typer.Argument(metavar="CATALOGUE", help="A JSON file of tools, or an agent.")],
    queries: Annotated[Path, typer.Argument(metavar="QUERIES", help="JSON lines of a query and the right tools.")],
    ranker: Annotated[
        list[str] | None, typer.Option("--ranker", metavar="NAME", help="Only this one; repeatable.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, max=50, help="How many tools at most.")] = None,
    confidence: Annotated[float | None, typer.Option(min=0, max=1, help="Below it nothing is returned.")] = None,
    cut: Annotated[float | None, typer.Option(min=0, max=1, help="The share of the best score a hit needs.")] = None,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Measure how well each ranker finds the right tools, beside the baselines that are installed."""
    from cuecard.cli.bench.command import Options
    from cuecard.cli.bench.command import bench_search as command

    command(catalogue, queries, Options(ranker or (), limit, confidence, cut, json, allow_code))


def main() -> None:
    """The command `cuecard`: problems go to stderr as pictures; exit 1 for problems found, 2 for wrong usage."""
    try:
        app(prog_name="cuecard")
    except (InputError, SettingsError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    except CuecardError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(0)
