"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

AgentPath = Annotated[Path, typer.Argument(metavar="AGENT", help="The agent file, or a folder with agent.yaml.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Format = Annotated[
    Literal["text", "json", "github"], typer.Option(help="Output for people, for machines, or for GitHub.")
]
DeliveryOption = Annotated[
    Literal["rewrite", "append", "frozen", "auto"] | None,
    typer.Option("--delivery", help="Override the agent file's delivery."),
]
SIDE_HELP = "An agent, REV:PATH of an agent in git, a turn file, or JSON of `cuecard render`."
Discovered = Annotated[
    str, typer.Option("--discovered", metavar="A,B", help="Treat these tools as already discovered.")
]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A value for an input; repeatable.")]
AllowCode = Annotated[
    bool, typer.Option("--allow-code", help="Load code that the agent file names: its ranker and helpers.")
]
TurnFile = Annotated[Path | None, typer.Option("--turn", metavar="FILE", help="A turn file (YAML): inputs, memory ...")]
