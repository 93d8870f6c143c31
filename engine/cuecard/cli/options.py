"""Options that several commands have, and whether errors are wanted as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

from cuecard.cli.signatures import Argument, Option

HERE = Path()
"""The agent of commands that are typed in its folder."""
AgentPath = Annotated[
    Path, Argument("The agent file, or a folder with agent.yaml; default: the current folder.", "[AGENT]", HERE)
]
Json = Annotated[bool, Option(help="Print JSON for machines.")]
Format = Annotated[Literal["text", "json", "github"], Option(help="Output for people, for machines, or for GitHub.")]
DeliveryOption = Annotated[
    Literal["rewrite", "append", "frozen", "auto"] | None,
    Option(help="Override the agent file's delivery."),
]
SIDE_HELP = "An agent, REV:PATH of an agent in git, a turn file, or JSON of `cuecard render`."
Discovered = Annotated[str, Option(metavar="A,B", help="Treat these tools as already discovered.")]
Set = Annotated[list[str] | None, Option(metavar="NAME=VALUE", help="A value for an input; repeatable.")]
AllowCode = Annotated[bool, Option(help="Load code that the agent file names: its ranker and helpers.")]
TurnFile = Annotated[Path | None, Option(metavar="FILE", help="A turn file (YAML): inputs, memory ...")]

SWITCH_INTERVAL = 2e-3
"""Seconds after which `serve` and `watch` take the interpreter from a thread that computes, for
`sys.setswitchinterval`: with Python's own 5 ms, threads that prepare prompts keep requests and saved files waiting;
with 0.5 ms, `serve` answers 7 % fewer requests. Their process is ours; a library leaves this to its host."""


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the command line asks for JSON, even if it is invalid."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in own or "--format=json" in own or ("--format", "json") in pairwise(own)
