"""Commands for authors, and `cuecard run`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

from cuecard.cli.options import (
    HERE,
    SIDE_HELP,
    AgentPath,
    AllowCode,
    DeliveryOption,
    Discovered,
    Format,
    Json,
    Set,
    TurnFile,
)
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
    from cuecard.workbench.init import init as command

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
    coverage: Annotated[
        bool, Option(help="Show which tools, sections, conditions and branches of templates no turn reaches.")
    ] = False,
    coverage_min: Annotated[
        float | None,
        Option(metavar="PERCENT", least=0, most=100, help="Exit with 1 when the turns reach less of one of these."),
    ] = None,
    delivery: DeliveryOption = None,
    json: Json = False,
    allow_code: AllowCode = False,
) -> int:
    """Render an agent's turn files, and hold each prompt against what the file expects."""
    from cuecard.workbench.testing.command import TestOptions
    from cuecard.workbench.testing.command import test as command

    form = "json" if json else format
    options = TestOptions(update, prune, form, junit, delivery, allow_code, coverage, coverage_min)
    return command(agent, turns or (), options)


def format_files(
    paths: Annotated[
        list[Path],
        Argument("Agent, tool and turn files, texts, or folders of agents; default: .", "[PATH]...", HERE),
    ],
    check: Annotated[bool, Option(help="Write nothing; exit with 1 when a file would change.")] = False,
    diff: Annotated[bool, Option(help="Like --check, and show what would change.")] = False,
    json: Json = False,
    allow_code: AllowCode = False,
) -> int:
    """Format files: comments stay, and every prompt stays the same."""
    from cuecard.workbench.fmt.command import FormatOptions
    from cuecard.workbench.fmt.command import fmt as command

    return command(paths, FormatOptions(check, diff, json, allow_code))


def import_files(
    files: Annotated[
        list[Path],
        Argument(metavar="FILE...", help="Files: `.prompt`, `.prompty`, `.jinja`, `.txt`, or `prompts.yaml#key`."),
    ],
    to: Annotated[Path, Option(metavar="DIR", help="The folder for the agents, each in a subfolder with its name.")],
    check: Annotated[bool, Option(help="Write nothing; exit with 1 when anything cannot be carried over.")] = False,
    json: Json = False,
) -> int:
    """Write prompt files of other tools as agents, and list what could not be carried over."""
    from cuecard.workbench.imports.command import import_files as command

    return command(files, to, check=check, as_json=json)


def diff(
    before: Annotated[str, Argument(f"{SIDE_HELP} Default: HEAD:., what was committed last.", "[A]", "HEAD:.")],
    after: Annotated[str, Argument("The same for the second prompt; default: the current folder.", "[B]", ".")],
    agent: Annotated[Path | None, Option(metavar="AGENT", help="The agent that the turn files belong to.")] = None,
    turn: Annotated[
        list[Path] | None,
        Option(metavar="FILE", help="A turn file (YAML) or a folder of them; repeatable."),
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
    from cuecard.workbench.diff.command import DiffOptions
    from cuecard.workbench.diff.command import diff as command
    from cuecard.workbench.diff.sides import SideOptions

    options = DiffOptions(turn or (), model, price, exit_code, "json" if json else format)
    reading = SideOptions(agent, None, allow_code=allow_code, discovered=discovered)
    return command(before, after, reading, options)


def run(
    agent: Annotated[
        Path,
        Argument("An agent file, an assistant file, a folder, or a name such as cms; default: .", "[AGENT]", HERE),
    ],
    scenario: Annotated[list[str] | None, Option(help="Play only this scenario; repeatable.")] = None,
    model: Annotated[str | None, Option(help="A pydantic-ai model name; an assistant defaults to its script.")] = None,
    mcp: Annotated[list[str] | None, Option(metavar="COMMAND", help="Start this tool server; repeatable.")] = None,
    mcp_url: Annotated[list[str] | None, Option(metavar="URL", help="Use the tool server there; repeatable.")] = None,
    tools_module: Annotated[
        list[str] | None,
        Option(metavar="MODULE", help="Functions of this Python module as tools; repeatable."),
    ] = None,
    message: Annotated[
        list[str] | None, Option(metavar="TEXT", help="Send this message, then exit; repeatable.")
    ] = None,
    timeout: Annotated[float, Option(least=0.1, help="Timeout of a server's tool in seconds.")] = 60.0,
    set_: Set = None,
    turn: TurnFile = None,
    delivery: DeliveryOption = None,
    json: Json = False,
    manifests: Annotated[Path | None, Option(metavar="DIR", help="Write one manifest per model request here.")] = None,
    data: Annotated[Path | None, Option(metavar="DIR", help="Keep the tool server's data here.")] = None,
    svg: Annotated[Path | None, Option(metavar="FILE", help="Save the output as an SVG picture.")] = None,
    allow_code: AllowCode = False,
) -> int:
    """Run an agent: chat with a model, or play an assistant's scenarios."""
    from cuecard.workbench.output import require

    needed = {"pydantic_ai": "pydantic-ai"}
    require("cuecard run", "run", needed if find_spec("pydantic_ai") else needed | {"mcp": "mcp"})
    from cuecard.workbench.run.command import run as command
    from cuecard.workbench.run.sources import ChatOptions, Sources

    sources = Sources(mcp or (), mcp_url or (), tools_module or (), timeout)
    return command(
        agent,
        model=model,
        scenarios=scenario or (),
        json=json,
        manifests=manifests,
        data=data,
        delivery=delivery,
        svg=svg,
        allow_code=allow_code,
        chat=ChatOptions(sources, message or (), set_ or (), turn),
    )
