"""Events on a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from cuecard.errors import visible
from cuecard.model import Json, SectionRecord
from cuecard.workbench.output import write_output
from cuecard.workbench.run.assistant import FINAL_ANSWER
from cuecard.workbench.run.events import (
    CallEvent,
    ContentChange,
    ContentChanges,
    Emit,
    Event,
    RunEnd,
    ScenarioEnd,
    ScenarioStart,
    StepEvent,
    TurnEnd,
    UserMessage,
)

MARK = " ..."
"""The mark after a text that was cut."""

LEAST = 24
"""The minimum width of a value in cells; if a line has less room, the terminal wraps it."""


def fit(value: Json, room: int) -> str:
    """The value on one line of at most `room` cells, or 24 where that is less.

    A longer value is cut after the last whole word that fits. A word that takes more than half of the line is cut
    inside: it is an address or an id, and its beginning is better than nothing.
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line, room = visible(" ".join(text.split())), max(room, LEAST)
    if cell_len(line) <= room:
        return line
    start = chop_cells(line, room - len(MARK))[0]
    whole = start if line[len(start)] == " " else start.rpartition(" ")[0]
    word = line[len(whole) :].split(maxsplit=1)[0]
    return (start if cell_len(word) * 2 > room else whole).rstrip() + MARK


_LINKED_FONTS = re.compile(r"@font-face \{[^}]*\}\s*|<!-- Generated with[^>]*-->\s*")

TITLE = "A run, step by step: the prompt's tokens, the model's calls, and what the prompt gained"
"""The title of the picture for screen readers."""

INDENT = " " * 20
"""The indentation of the column that says what happened in a step."""

WIDTH = 136
"""The width of lines without a terminal: in files and pipes."""

PICTURE_WIDTH = 60
"""The width of lines in a picture: a phone shows them with letters that can be read."""

LEGEND = f"{'step':>4} {'tokens':>7} {'more':>6} calls; + tools found; ~ new parts of the prompt"
"""The meaning of the columns and signs."""

CONTENT = f"{'content':>18}  "
"""The sign before a change of the server's content."""


@dataclass(frozen=True, slots=True)
class View:
    """Shows events on a console, which handles colours, `NO_COLOR` and pipes."""

    console: Console

    def __call__(self, event: Event) -> None:
        """Show one event."""
        width = self.console.width if self.console.is_terminal else WIDTH
        for line in _lines(event, width):
            self.console.print(line, soft_wrap=not self.console.is_terminal, highlight=False)


def picture_writer(path: Path) -> Emit:
    """Draws the same lines into an SVG file, written at the end of a scenario or a chat."""
    console = Console(record=True, width=PICTURE_WIDTH, file=StringIO(), force_terminal=True)
    view = View(console)

    def write(event: Event) -> None:
        view(event)
        if isinstance(event, RunEnd | ScenarioEnd):
            # The fonts that rich links to would be fetched from a third party's server.
            picture = _LINKED_FONTS.sub("", console.export_svg(title="cuecard run", clear=False))
            write_output(path, picture.replace(">", f">\n    <title>{TITLE}</title>", 1), "--svg")

    return write


def _lines(event: Event, width: int) -> Iterator[Text]:
    match event:
        case ScenarioStart():
            title = f"{event.scenario}: {event.title}" if event.title else event.scenario
            yield _line((title, "bold"), (f"  ({event.tools} tools)", "dim"))
            yield _line((LEGEND, "dim"))
        case UserMessage():
            yield _line((f"  turn {event.turn}  ", "dim"), (event.user, "cyan"))
        case StepEvent():
            yield from _step(event, width)
        case TurnEnd():
            yield from (_line((f"{INDENT}{line}".rstrip(), "cyan")) for line in event.answer.splitlines())
            if event.stopped:
                yield _line((f"{INDENT}stopped: {event.stopped}", "red"))
        case ContentChanges():
            yield from (_change(change, width) for change in event.changes)
        case ScenarioEnd():
            yield from _end(event)
        case RunEnd():
            yield _result(event)


def _step(event: StepEvent, width: int) -> Iterator[Text]:
    more = f"{event.tokens_more:+,}" if event.tokens_more else ""
    numbers = (f"{event.number:>4} {event.manifest.total_tokens:>7,} {more:>6} ", "" if more else "dim")
    if not event.calls:
        yield _line(numbers, ("answers", ""))
    for at, call in enumerate(event.calls):
        yield _line((INDENT, "") if at else numbers, *_call(call, width))
        if call.is_error:
            failed = f"{INDENT}  failed: "
            yield _line((f"{failed}{fit(call.result, 2 * (width - len(failed)))}", "red"))
    if event.discovered:
        yield _line((f"{INDENT}+ {', '.join(event.discovered)}", "green"))
    if event.before:
        records = {record.id: record for record in event.manifest.sections}
        news = [*(_entered(records[name]) for name in event.entered), *(f"{name} changed" for name in event.changed)]
        yield from (_line((f"{INDENT}~ {fit(line, width - len(INDENT) - 2)}", "yellow")) for line in news)


def _entered(record: SectionRecord) -> str:
    """What entered: of instructions, whose block is named by a hash of its text, the tools."""
    _, found, tools = record.reason.partition("discovered: ")
    what = f"instructions of {tools}" if found and record.placement == "appended" else record.id
    return f"{what} entered"


def _call(call: CallEvent, width: int) -> list[tuple[str, str]]:
    # The full answer follows, so its tool call is shown without arguments.
    room = width - len(INDENT) - len(call.tool) - 1
    return [(call.tool, "bold"), ("" if call.tool == FINAL_ANSWER else f" {fit(call.arguments, room)}", "dim")]


def _change(change: ContentChange, width: int) -> Text:
    room = width - len(f"{CONTENT}+ {change.path} ")
    if change.before is None:
        return _line((f"{CONTENT}+ {change.path} {fit(change.after, room)}", "green"))
    if change.after is None:
        return _line((f"{CONTENT}- {change.path} {fit(change.before, room)}", "red"))
    half = (room - len(" -> ")) // 2
    return _line((f"{CONTENT}~ {change.path} {fit(change.before, half)} -> {fit(change.after, half)}", "yellow"))


def _end(event: ScenarioEnd) -> Iterator[Text]:
    if event.everything:
        requests = "1 request" if event.requests == 1 else f"{event.requests} requests"
        prompt = f"{requests}; prompt {event.first:,} -> {event.last:,} tokens"
        saved = f"{1 - event.sent / event.everything:.0%} less than with every instruction in every prompt"
        yield _line((f"  {prompt}; {event.sent:,} in all, {saved} ({event.everything:,})", ""))
    yield from (_line((line, "red")) for problem in event.problems for line in problem.picture().splitlines())
    yield Text("")


def _result(event: RunEnd) -> Text:
    if event.failed:
        failed = ", ".join(event.failed)
        return _line((f"{len(event.failed)} of {event.scenarios} scenarios did not go as expected: {failed}", "red"))
    played = "1 scenario" if event.scenarios == 1 else f"{event.scenarios} scenarios"
    return _line((f"{played} played to the end", "green"))


def _line(*parts: tuple[str, str]) -> Text:
    """Styled texts as one line, without characters that move the cursor or begin another line."""
    return Text.assemble(*((visible(text), style) for text, style in parts))
