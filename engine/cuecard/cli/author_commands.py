"""The commands of an author's workbench: an agent to begin with, its prompts as tests, what a change does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from cuecard.cli.options import SIDE_HELP, AgentPath, AllowCode, DeliveryOption, Discovered, Format, Json


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The target folder; created if needed.")],
    from_: Annotated[
        Literal["minimal", "sections", "cms"] | None,
        typer.Option("--from", help="What to start from; asked for on a terminal, otherwise minimal."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="The agent's name; defaults to the folder's name.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing.")] = False,
    json: Json = False,
) -> None:
    """Begin an agent: a folder that works, with two tools, turns that test it, and settings for editors."""
    from cuecard.cli.init.command import init as command

    command(folder, kind=from_, name=name, yes=yes, as_json=json)


def run_tests(
    agent: AgentPath,
    turns: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[TURNS]...", help="Turn files or folders; defaults to the agent's `turns/`."),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Rewrite snapshots.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Delete snapshots that no turn uses.")] = False,
    format: Format = "text",
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML.")] = None,
    delivery: DeliveryOption = None,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Render an agent's turn files, and hold each prompt against what the file expects."""
    from cuecard.cli.test.command import Options
    from cuecard.cli.test.command import test as command

    options = Options(update, prune, "json" if json else format, junit, delivery, allow_code)
    raise typer.Exit(command(agent, turns or (), options))


def format_files(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Agent, tool and turn files, texts, or folders of agents.")
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 when a file would change.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Like --check, and show what would change.")] = False,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Lay files out as they should be: comments stay, and no prompt says anything else for it."""
    from cuecard.cli.fmt.command import Options
    from cuecard.cli.fmt.command import fmt as command

    raise typer.Exit(command(paths, Options(check, diff, json, allow_code)))


def import_files(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="dotprompt (`.prompt`) or Prompty (`.prompty`) files.")
    ],
    to: Annotated[
        Path, typer.Option("--to", metavar="DIR", help="The folder for the agents, each in a subfolder with its name.")
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 when anything cannot be carried over.")
    ] = False,
    json: Json = False,
) -> None:
    """Write prompt files of other tools as agents, and list what could not be carried over."""
    from cuecard.cli.imports.command import import_files as command

    raise typer.Exit(command(files, to, check=check, as_json=json))


def diff(
    before: Annotated[str, typer.Argument(metavar="A", help=SIDE_HELP)],
    after: Annotated[str, typer.Argument(metavar="B", help="The same for the second prompt.")],
    agent: Annotated[
        Path | None, typer.Option("--agent", metavar="AGENT", help="The agent that the turn files belong to.")
    ] = None,
    turn: Annotated[
        list[Path] | None,
        typer.Option("--turn", metavar="FILE", help="A turn file (YAML); for Markdown also several, or folders."),
    ] = None,
    discovered: Discovered = "",
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="Show the cost on this model.")] = None,
    price: Annotated[
        float | None,
        typer.Option("--price", metavar="USD", min=0, help="For Markdown: the price of a million input tokens."),
    ] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 when the prompts differ.")] = False,
    format: Annotated[
        Literal["text", "json", "markdown"], typer.Option(help="For people, for machines, or for a pull request.")
    ] = "text",
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Compare two prompts: what changed, why, and what the provider's cache loses by it."""
    from cuecard.cli.diff.command import Options
    from cuecard.cli.diff.command import diff as command
    from cuecard.cli.diff.sides import Reading

    options = Options(turn or (), model, price, exit_code, "json" if json else format)
    reading = Reading(agent, None, allow_code=allow_code, discovered=discovered)
    raise typer.Exit(command(before, after, reading, options))
