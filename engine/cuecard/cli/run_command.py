"""The command `cuecard run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cuecard.cli.options import AllowCode, DeliveryOption, Json, Set, TurnFile
from cuecard.cli.signatures import Argument, Option


def run(
    agent: Annotated[
        Path, Argument(metavar="AGENT", help="An agent file, an assistant file, a folder, or a name such as cms.")
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
    manifests: Annotated[Path | None, Option(metavar="DIR", help="Write one manifest per step here.")] = None,
    data: Annotated[Path | None, Option(metavar="DIR", help="Keep the tool server's data here.")] = None,
    svg: Annotated[Path | None, Option(metavar="FILE", help="Save the output as an SVG picture.")] = None,
    allow_code: AllowCode = False,
) -> int:
    """Run an agent: chat with a model, or play an assistant's scenarios."""
    from cuecard.cli.run.command import run as command
    from cuecard.cli.run.options import ChatOptions, Sources

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
