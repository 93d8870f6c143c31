"""The command that holds an agent's prompts against what its authors expect."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cuecard.cli.options import AgentPath, AllowCode, DeliveryOption, Format, Json


def run_tests(
    agent: AgentPath,
    turns: Annotated[
        list[Path] | None, typer.Argument(metavar="[TURNS]...", help="Turn files or folders; `turns/` of the agent.")
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Write snapshots anew.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Throw snapshots away that no turn asks for.")] = False,
    format: Format = "text",
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML, too.")] = None,
    delivery: DeliveryOption = None,
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Render an agent's turn files, and hold each prompt against what the file expects."""
    from cuecard.cli.test.command import Options
    from cuecard.cli.test.command import test as command

    options = Options(update, prune, "json" if json else format, junit, delivery, allow_code)
    raise typer.Exit(command(agent, turns or (), options))
