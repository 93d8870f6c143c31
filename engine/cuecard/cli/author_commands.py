"""The commands for authors: starting an agent, testing its prompts, seeing the effect of a change."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cuecard.cli.options import SIDE_HELP, AgentPath, AllowCode, DeliveryOption, Discovered, Format, Json
from cuecard.cli.signatures import Argument, Option


def init(
    folder: Annotated[Path, Argument(metavar="DIR", help="The target folder; created if needed.")],
    from_: Annotated[
        Literal["minimal", "sections", "cms"] | None,
        Option(help="What to start from; asked for on a terminal, otherwise minimal."),
    ] = None,
    name: Annotated[str | None, Option(help="The agent's name; defaults to the folder's name.")] = None,
    yes: Annotated[bool, Option(help="Ask nothing.")] = False,
    json: Json = False,
) -> None:
    """Begin an agent: a folder that works, with two tools, turns that test it, and settings for editors."""
    from cuecard.cli.init.command import init as command

    command(folder, kind=from_, name=name, yes=yes, as_json=json)


def run_tests(
    agent: AgentPath,
    turns: Annotated[
        list[Path] | None,
        Argument(metavar="[TURNS]...", help="Turn files or folders; defaults to the agent's `turns/`."),
    ] = None,
    update: Annotated[bool, Option(help="Rewrite snapshots.")] = False,
    prune: Annotated[bool, Option(help="Delete snapshots that no turn uses.")] = False,
    format: Format = "text",
    junit: Annotated[Path | None, Option(metavar="FILE", help="Also write JUnit XML.")] = None,
    delivery: DeliveryOption = None,
    json: Json = False,
    allow_code: AllowCode = False,
) -> int:
    """Render an agent's turn files, and hold each prompt against what the file expects."""
    from cuecard.cli.test.command import Options
    from cuecard.cli.test.command import test as command

    options = Options(update, prune, "json" if json else format, junit, delivery, allow_code)
    return command(agent, turns or (), options)


def format_files(
    paths: Annotated[
        list[Path], Argument(metavar="PATH...", help="Agent, tool and turn files, texts, or folders of agents.")
    ],
    check: Annotated[bool, Option(help="Write nothing; exit with 1 when a file would change.")] = False,
    diff: Annotated[bool, Option(help="Like --check, and show what would change.")] = False,
    json: Json = False,
    allow_code: AllowCode = False,
) -> int:
    """Format files: comments stay, and every prompt stays the same."""
    from cuecard.cli.fmt.command import Options
    from cuecard.cli.fmt.command import fmt as command

    return command(paths, Options(check, diff, json, allow_code))


def import_files(
    files: Annotated[
        list[Path], Argument(metavar="FILE...", help="dotprompt (`.prompt`) or Prompty (`.prompty`) files.")
    ],
    to: Annotated[Path, Option(metavar="DIR", help="The folder for the agents, each in a subfolder with its name.")],
    check: Annotated[bool, Option(help="Write nothing; exit with 1 when anything cannot be carried over.")] = False,
    json: Json = False,
) -> int:
    """Write prompt files of other tools as agents, and list what could not be carried over."""
    from cuecard.cli.imports.command import import_files as command

    return command(files, to, check=check, as_json=json)


def diff(
    before: Annotated[str, Argument(metavar="A", help=SIDE_HELP)],
    after: Annotated[str, Argument(metavar="B", help="The same for the second prompt.")],
    agent: Annotated[Path | None, Option(metavar="AGENT", help="The agent that the turn files belong to.")] = None,
    turn: Annotated[
        list[Path] | None,
        Option(metavar="FILE", help="A turn file (YAML); for Markdown also several, or folders."),
    ] = None,
    discovered: Discovered = "",
    model: Annotated[str | None, Option(metavar="NAME", help="Show the cost on this model.")] = None,
    price: Annotated[
        float | None,
        Option(metavar="USD", least=0, help="For Markdown: the price of a million input tokens."),
    ] = None,
    exit_code: Annotated[bool, Option(help="Exit with 1 when the prompts differ.")] = False,
    format: Annotated[
        Literal["text", "json", "markdown"], Option(help="For people, for machines, or for a pull request.")
    ] = "text",
    json: Json = False,
    allow_code: AllowCode = False,
) -> int:
    """Compare two prompts: what changed, why, and what the provider's cache loses by it."""
    from cuecard.cli.diff.command import Options
    from cuecard.cli.diff.command import diff as command
    from cuecard.cli.diff.sides import Reading

    options = Options(turn or (), model, price, exit_code, "json" if json else format)
    reading = Reading(agent, None, allow_code=allow_code, discovered=discovered)
    return command(before, after, reading, options)
