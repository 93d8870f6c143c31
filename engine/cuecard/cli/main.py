"""The command line: every command in one table, and the commands that read and serve."""

from __future__ import annotations

import atexit
import gc
import json
import sys
from pathlib import Path
from typing import Annotated, Final, Literal

import cuecard
from cuecard.cli.author_commands import diff, format_files, import_files, init, run, run_tests
from cuecard.cli.library_commands import LIBRARY
from cuecard.cli.options import (
    HERE,
    SWITCH_INTERVAL,
    AgentPath,
    AllowCode,
    DeliveryOption,
    Discovered,
    Json,
    Set,
    TurnFile,
    wants_json,
)
from cuecard.cli.signatures import Argument, Group, Option
from cuecard.cli.signatures import run as run_command
from cuecard.cli.tool_commands import BENCH, SKILLS, TOOLS, mcp
from cuecard.errors import CuecardError
from cuecard.workbench.output import tell


def explain(
    codes: Annotated[
        list[str] | None,
        Argument(metavar="CODE...", help="Codes, or their first words: `yaml` for all `yaml-...`."),
    ] = None,
    json: Json = False,
) -> None:
    """Explain problem codes, with a bad and a good example of each; without a code, list them."""
    from cuecard.workbench.check.command import explain as command

    command(codes or [], json=json)


def schema(
    write: Annotated[Path | None, Option(metavar="DIR", help="Write all schemas, or pages, into a folder.")] = None,
    markdown: Annotated[bool, Option(help="Print the pages that document every key instead.")] = False,
) -> None:
    """Print the JSON Schemas of the YAML files, for editors."""
    from cuecard.errors import visible
    from cuecard.workbench.output import output_folder, write_output

    if markdown:
        from cuecard.config.settings_pages import settings_pages
        from cuecard.files.environment import described_variables

        texts = settings_pages(described_variables())
        whole = "\n".join(texts.values()).removesuffix("\n")
    else:
        from cuecard.config.json_schema import schemas

        texts = schemas()
        whole = json.dumps({name: json.loads(text) for name, text in texts.items()}, indent=2)
    if write is None:
        print(whole)
        return
    output_folder(write, "--write")
    for name, text in texts.items():
        write_output(write / name, text, "--write")
        print(visible(str(write / name)))


MONTH: Final = 30 * 24 * 60 * 60.0
"""Seconds."""


def serve(
    agents: Annotated[
        list[Path] | None,
        Argument(
            metavar="[AGENT]...",
            help="Agent files, folders, or shipped names, default: .; with --library, NAME@LABEL.",
        ),
    ] = None,
    host: Annotated[str, Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(least=0, most=65535, help="The port; 0 for any free one.")] = 8765,
    library: Annotated[str, Option(metavar="URL", help="Serve the agents of this library, read-only.")] = "",
    lifetime: Annotated[float, Option(metavar="SECONDS", help="How often its labels are asked again.")] = 60.0,
    engines: Annotated[int, Option(least=1, metavar="N", help="How many engines of it are kept.")] = 200,
    removed: Annotated[
        Literal["refuse", "serve"], Option(help="What new conversations get when a label was removed.")
    ] = "refuse",
    fallback: Annotated[
        Path | None, Option(metavar="DIR", help="An exported folder, while the library cannot be reached.")
    ] = None,
    no_token: Annotated[bool, Option(help="Let anyone who can reach the port use the service.")] = False,
    delivery: DeliveryOption = None,
    states: Annotated[Path | None, Option(metavar="DIR", help="The folder for good states.")] = None,
    manifests: Annotated[Path | None, Option(metavar="DIR", help="Append a record per request to a file here.")] = None,
    texts: Annotated[bool, Option(help="Records also hold texts, arguments and results.")] = False,
    max_body: Annotated[int, Option(metavar="BYTES", help="The largest request body in bytes.")] = 1024 * 1024,
    max_requests: Annotated[int, Option(metavar="N", help="How many requests are handled at once.")] = 128,
    max_connections: Annotated[int, Option(metavar="N", help="How many connections are open at once.")] = 1024,
    max_per_address: Annotated[int, Option(metavar="N", help="How many of them are from one address.")] = 512,
    timeout: Annotated[
        float, Option(metavar="SECONDS", help="Timeout for receiving a request, and for answering it.")
    ] = 10.0,
    max_age: Annotated[float, Option(metavar="SECONDS", help="Conversations idle for longer are rejected.")] = MONTH,
    grace: Annotated[float, Option(metavar="SECONDS", help="How long to go on answering when told to stop.")] = 10.0,
    allow_code: AllowCode = False,
) -> int:
    """Serve agents over HTTP, for programs in any language."""
    from cuecard.server.serve import ServeAddress, ServeLibrary, ServeLimits, ServeRecords
    from cuecard.server.serve import serve as command

    sys.setswitchinterval(SWITCH_INTERVAL)
    limits = ServeLimits(max_body, max_requests, max_connections, max_per_address, timeout, max_age, grace)
    place, records = ServeAddress(host, port, no_token), ServeRecords(manifests, texts)
    chosen = ServeLibrary(library, lifetime, engines, removed, fallback)
    return command(
        agents or [],
        place,
        limits,
        delivery=delivery,
        states=states,
        records=records,
        library=chosen,
        allow_code=allow_code,
    )


def studio(
    agents: Annotated[list[Path], Argument("Agent files, folders, or shipped names; default: .", "[AGENT]...", HERE)],
    host: Annotated[str, Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(least=0, most=65535, help="The port; 0 for any free one.")] = 8766,
    no_browser: Annotated[bool, Option(help="Print the address, and open no browser.")] = False,
    records: Annotated[Path | None, Option(metavar="DIR", help="The folder of records of conversations.")] = None,
    editor: Annotated[
        str, Option(metavar="TEMPLATE", help="Links to your editor, with {path}, {line} and {column}.")
    ] = "",
    allow_code: AllowCode = False,
) -> int:
    """Show prompts in the browser: what the model read, request by request, and why the cache broke."""
    from cuecard.studio.serve import StudioOptions
    from cuecard.studio.serve import studio as command

    sys.setswitchinterval(SWITCH_INTERVAL)
    return command(agents, StudioOptions(host, port, not no_browser, records, editor, allow_code))


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
    """Print the prompt of one model request."""
    from cuecard.workbench.render import Form
    from cuecard.workbench.render import render as command

    chosen: dict[Form, bool] = {"manifest": manifest, "messages": messages, "compiled": compiled, "json": json}
    form: Form = next((name for name, wanted in chosen.items() if wanted), "text")
    command(
        agent, discovered=discovered, values=set_ or [], turn=turn, delivery=delivery, form=form, allow_code=allow_code
    )


def check(
    agents: Annotated[
        list[Path], Argument("Agent files, their folders, or folders of agents; default: .", "[AGENT]...", HERE)
    ],
    format: Annotated[
        Literal["text", "json", "github", "sarif"],
        Option(help="Output for people, for machines, for GitHub, or for code scanning (SARIF 2.1.0)."),
    ] = "text",
    select: Annotated[str, Option(metavar="A,B", help="Only these codes or prefixes of codes.")] = "",
    ignore: Annotated[str, Option(metavar="A,B", help="All but these codes or prefixes.")] = "",
    strict: Annotated[bool, Option(help="Treat warnings as errors.")] = False,
    json: Json = False,
    allow_code: AllowCode = False,
) -> int:
    """Check every file of an agent and report all problems at once; `cuecard test` reads its turn files."""
    from cuecard.workbench.check.command import CheckOptions
    from cuecard.workbench.check.command import check as command

    form = "json" if json else format
    return command(*agents, options=CheckOptions(form, select, ignore, strict, allow_code))


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
    from cuecard.workbench.render import tokens as command

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
    from cuecard.workbench.replay.command import ReplayOptions
    from cuecard.workbench.replay.command import replay as command

    options = ReplayOptions(
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
    from cuecard.workbench.watch import Example
    from cuecard.workbench.watch import watch as command

    sys.setswitchinterval(SWITCH_INTERVAL)
    example = Example(discovered, set_ or [], turn)
    return command(agent, example=example, delivery=delivery, as_json=json, states=states, allow_code=allow_code)


def memory(
    agent: AgentPath,
    recordings: Annotated[list[Path], Argument(metavar="RECORDING...", help="Files or folders of records with texts.")],
    json: Json = False,
    allow_code: AllowCode = False,
) -> None:
    """Play recorded results: what the working memory learned and forgot, and by which rule."""
    from cuecard.workbench.field.memory import show_memory

    show_memory(agent, recordings, as_json=json, allow_code=allow_code)


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
        "studio": studio,
        "schema": schema,
        "memory": memory,
        "tools": TOOLS,
        "skills": SKILLS,
        "bench": BENCH,
        "library": LIBRARY,
    },
    version=lambda: f"cuecard {cuecard.__version__}",
    removed={"probe": "write what you know of it into a models file: `cuecard schema --markdown` has the keys"},
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
