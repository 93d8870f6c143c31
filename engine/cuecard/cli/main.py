"""The command line: every command and option in one table; what a command does is imported when it runs."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Annotated, Literal

import typer

import cuecard
from cuecard.cli.author_commands import diff, format_files, import_files, init, run_tests
from cuecard.cli.failures import UsageFault, tell, tell_usage, wants_json
from cuecard.cli.mcp_commands import mcp, skills_app
from cuecard.cli.options import AgentPath, AllowCode, DeliveryOption, Discovered, Format, Json, Set, TurnFile
from cuecard.cli.reference_commands import explain, probe, schema
from cuecard.cli.run_command import run
from cuecard.cli.serve_command import serve
from cuecard.cli.tool_commands import bench_app, tools_app
from cuecard.errors import CuecardError

app = typer.Typer(
    name="cuecard",
    help="A prompt engine for AI agents: checks and counts prompts, and adds instructions as tools are discovered.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(tools_app, name="tools")
app.add_typer(skills_app, name="skills")
app.add_typer(bench_app, name="bench")


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
    """A prompt engine for AI agents: checks and counts prompts, and adds instructions as tools are discovered."""


@app.command()
def render(
    agent: AgentPath,
    discovered: Discovered = "",
    set_: Set = None,
    turn: TurnFile = None,
    delivery: DeliveryOption = None,
    json: Json = False,
    manifest: Annotated[
        bool, typer.Option("--manifest", help="Print only the manifest, as JSON without text.")
    ] = False,
    messages: Annotated[bool, typer.Option("--messages", help="Print the whole message stack, as JSON.")] = False,
    compiled: Annotated[
        bool, typer.Option("--compiled", help="Print stable and dynamic text, with fingerprints and sources, as JSON.")
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
def check(
    agents: Annotated[
        list[Path], typer.Argument(metavar="AGENT...", help="Agent files, their folders, or folders of agents.")
    ],
    format: Format = "text",
    select: Annotated[str, typer.Option(metavar="A,B", help="Only these codes or prefixes of codes.")] = "",
    ignore: Annotated[str, typer.Option(metavar="A,B", help="All but these codes or prefixes.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")] = False,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Check every file of an agent and report all problems at once."""
    from cuecard.cli.check.command import Options
    from cuecard.cli.check.command import check as command

    form = "json" if json else format
    raise typer.Exit(command(*agents, options=Options(form, select, ignore, strict, allow_code)))


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
        typer.Option("--from", help="The format of the recording."),
    ] = "auto",
    delivery: Annotated[
        list[str] | None,
        typer.Option("--delivery", metavar="NAME", help="append, rewrite or frozen; repeatable, default all."),
    ] = None,
    definitions: Annotated[
        Literal["auto", "deferred", "all"],
        typer.Option(help="Tool definitions: sent when found, all from the start, or whatever each model supports."),
    ] = "auto",
    model: Annotated[
        list[str] | None, typer.Option("--model", metavar="NAME", help="A model to price; repeatable.")
    ] = None,
    models: Annotated[
        Path | None, typer.Option("--models", metavar="FILE", help="A file with your own model profiles.")
    ] = None,
    set_: Set = None,
    recommend: Annotated[
        bool,
        typer.Option("--recommend", help="Name the cheapest delivery, and up to how many tools it stays cheapest."),
    ] = False,
    json: Json = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report as an HTML page with charts.")
    ] = None,
    long_cache: Annotated[bool, typer.Option("--long-cache", help="Use the longer cache lifetime.")] = False,
    allow_code: AllowCode = False,
) -> None:
    """Play a recorded conversation, and show what it costs under each delivery."""
    from cuecard.cli.replay.command import Options
    from cuecard.cli.replay.command import replay as command

    options = Options(
        from_, delivery or (), definitions, model or (), models, set_ or (), recommend, html, json, long_cache
    )
    command(agent, transcript, options, allow_code=allow_code)


@app.command()
def watch(
    agent: AgentPath,
    discovered: Discovered = "",
    set_: Set = None,
    turn: TurnFile = None,
    delivery: DeliveryOption = None,
    json: Json = False,
    states: Annotated[Path | None, typer.Option(metavar="DIR", help="The folder for good states.")] = None,
    allow_code: AllowCode = False,
) -> None:
    """Follow an agent's files: a line per change, and a picture of what is refused."""
    from cuecard.cli.watch.command import watch as command
    from cuecard.cli.watch.view import Example

    example = Example(discovered, set_ or [], turn)
    raise typer.Exit(
        command(agent, example=example, delivery=delivery, as_json=json, states=states, allow_code=allow_code)
    )


app.command()(diff)
app.command()(run)
app.command()(mcp)
app.command()(init)
app.command(name="test")(run_tests)
app.command(name="fmt")(format_files)
app.command(name="import")(import_files)
app.command()(explain)
app.command()(probe)
app.command()(serve)
app.command()(schema)


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """The app with the one command that is typed: Typer reads the signature of each it has, which takes a while."""
    named = arguments[0] if arguments else ""
    known = app.registered_commands
    chosen = [each for each in known if each.callback and named == (each.name or each.callback.__name__)]
    if not chosen:
        return app
    made = copy(app)
    made.registered_commands, made.registered_groups = chosen, []
    return made


def main() -> None:
    """The command `cuecard`: problems go to stderr as pictures; exit 1 for problems found, 2 for wrong usage."""
    gc.set_threshold(50_000)  # a command makes much that lasts and little garbage, so it is looked for more rarely
    as_json = wants_json(sys.argv[1:])
    try:
        sys.exit(app_for(sys.argv[1:])(prog_name="cuecard", standalone_mode=False) or 0)
    except CuecardError as error:
        sys.exit(tell(error, as_json=as_json))
    except UsageFault as error:
        sys.exit(tell_usage(error, as_json=as_json))
    except typer.Abort:
        sys.exit("Aborted!")
    except BrokenPipeError:
        sys.exit(0)
