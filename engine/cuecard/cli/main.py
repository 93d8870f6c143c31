"""The command line: every command and option in one table; a command's code is imported when it runs."""

from __future__ import annotations

import atexit
import gc
import sys
from pathlib import Path
from typing import Annotated, Final, Literal

import cuecard
from cuecard.cli.author_commands import diff, format_files, import_files, init, run_tests
from cuecard.cli.failures import wants_json
from cuecard.cli.groups import Group
from cuecard.cli.groups import run as run_command
from cuecard.cli.mcp_commands import SKILLS, mcp
from cuecard.cli.options import (
    SWITCH_INTERVAL,
    AgentPath,
    AllowCode,
    DeliveryOption,
    Discovered,
    Format,
    Json,
    Set,
    TurnFile,
)
from cuecard.cli.outputs import tell
from cuecard.cli.reference_commands import explain, schema
from cuecard.cli.run_command import run
from cuecard.cli.serve_command import serve
from cuecard.cli.signatures import Argument, Option
from cuecard.cli.tool_commands import BENCH, TOOLS
from cuecard.errors import CuecardError


def render(
    agent: AgentPath,
    discovered: Discovered = "",
    set_: Set = None,
    turn: TurnFile = None,
    delivery: DeliveryOption = None,
    json: Json = False,
    manifest: Annotated[bool, Option(help="Print only the manifest, as JSON without text.")] = False,
    messages: Annotated[bool, Option(help="Print the whole message stack, as JSON.")] = False,
    compiled: Annotated[
        bool, Option(help="Print stable and dynamic text, with fingerprints and sources, as JSON.")
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


def check(
    agents: Annotated[
        list[Path], Argument(metavar="AGENT...", help="Agent files, their folders, or folders of agents.")
    ],
    format: Format = "text",
    select: Annotated[str, Option(metavar="A,B", help="Only these codes or prefixes of codes.")] = "",
    ignore: Annotated[str, Option(metavar="A,B", help="All but these codes or prefixes.")] = "",
    strict: Annotated[bool, Option(help="Treat warnings as errors.")] = False,
    json: Json = False,
    allow_code: AllowCode = False,
) -> int:
    """Check every file of an agent and report all problems at once."""
    from cuecard.cli.check.command import Options
    from cuecard.cli.check.command import check as command

    form = "json" if json else format
    return command(*agents, options=Options(form, select, ignore, strict, allow_code))


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


def replay(
    agent: AgentPath,
    transcript: Annotated[Path, Argument(metavar="TRANSCRIPT", help="A recorded conversation, or a log.")],
    from_: Annotated[
        Literal["auto", "cuecard", "pydantic-ai", "openai", "anthropic"],
        Option(help="The format of the recording."),
    ] = "auto",
    delivery: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="append, rewrite or frozen; repeatable, default all."),
    ] = None,
    definitions: Annotated[
        Literal["auto", "deferred", "all"],
        Option(help="Tool definitions: sent when found, all from the start, or whatever each model supports."),
    ] = "auto",
    model: Annotated[list[str] | None, Option(metavar="NAME", help="A model to price; repeatable.")] = None,
    models: Annotated[Path | None, Option(metavar="FILE", help="A file with your own model profiles.")] = None,
    set_: Set = None,
    recommend: Annotated[
        bool,
        Option(help="Name the cheapest delivery, and up to how many tools it stays cheapest."),
    ] = False,
    json: Json = False,
    html: Annotated[Path | None, Option(metavar="FILE", help="Write the report as an HTML page with charts.")] = None,
    long_cache: Annotated[bool, Option(help="Use the longer cache lifetime.")] = False,
    allow_code: AllowCode = False,
) -> None:
    """Play a recorded conversation, and show what it costs under each delivery."""
    from cuecard.cli.replay.command import Options
    from cuecard.cli.replay.command import replay as command

    options = Options(
        from_, delivery or (), definitions, model or (), models, set_ or (), recommend, html, json, long_cache
    )
    command(agent, transcript, options, allow_code=allow_code)


def watch(
    agent: AgentPath,
    discovered: Discovered = "",
    set_: Set = None,
    turn: TurnFile = None,
    delivery: DeliveryOption = None,
    json: Json = False,
    states: Annotated[Path | None, Option(metavar="DIR", help="The folder for good states.")] = None,
    allow_code: AllowCode = False,
) -> int:
    """Follow an agent's files: a line per change, and a picture of what is refused."""
    from cuecard.cli.watch.command import watch as command
    from cuecard.cli.watch.view import Example

    sys.setswitchinterval(SWITCH_INTERVAL)
    example = Example(discovered, set_ or [], turn)
    return command(agent, example=example, delivery=delivery, as_json=json, states=states, allow_code=allow_code)


COMMANDS: Final = Group(
    "A prompt engine for AI agents: checks and counts prompts, and adds instructions as tools are discovered.",
    {
        "render": render,
        "check": check,
        "tokens": tokens,
        "replay": replay,
        "watch": watch,
        "diff": diff,
        "run": run,
        "mcp": mcp,
        "init": init,
        "test": run_tests,
        "fmt": format_files,
        "import": import_files,
        "explain": explain,
        "serve": serve,
        "schema": schema,
        "tools": TOOLS,
        "skills": SKILLS,
        "bench": BENCH,
    },
    version=lambda: f"cuecard {cuecard.__version__}",
    removed={"probe": "write what you know of an endpoint into a models file: docs/providers.md shows how"},
)


def main() -> None:
    """The command `cuecard`: problems go to stderr as pictures; exit 1 for problems found, 2 for wrong usage."""
    gc.set_threshold(
        200_000
    )  # a command creates many lasting objects and little garbage, so collecting rarely is enough
    atexit.register(gc.freeze)  # the rest ends with the process, so a last collection would be wasted
    words = sys.argv[1:]
    try:
        sys.exit(run_command(COMMANDS, words, "cuecard"))
    except CuecardError as error:
        sys.exit(tell(error, as_json=wants_json(words)))
    except (KeyboardInterrupt, EOFError):
        sys.exit("Aborted!")
    except BrokenPipeError:
        sys.exit(0)
