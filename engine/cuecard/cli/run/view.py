"""Events on a terminal: a few lines per step; plain text where the output is a file or a pipe."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

from cuecard.adapters.assistant import FINAL_ANSWER
from cuecard.cli.run.events import (
    Answered,
    Asked,
    Began,
    CallMade,
    Change,
    Changed,
    Emit,
    Ended,
    Event,
    Finished,
    StepTaken,
)
from cuecard.errors import visible
from cuecard.model import Json

_LINKED_FONTS = re.compile(r"@font-face \{[^}]*\}\s*|<!-- Generated with[^>]*-->\s*")

INDENT = " " * 20
"""Up to the column in which a step says what happened."""

CONTENT = f"{'content':>18}  "
"""What stands before a change of the server's content."""


@dataclass(frozen=True, slots=True)
class View:
    """Shows events on a console, which knows about colours, `NO_COLOR` and pipes."""

    console: Console

    def __call__(self, event: Event) -> None:
        """Show one event."""
        for line in _lines(event):
            self.console.print(line, soft_wrap=True, highlight=False)


def picture_writer(path: Path) -> Emit:
    """Draws the same lines into an SVG file, which is written when a scenario or a chat has ended."""
    console = Console(record=True, width=136, file=StringIO(), force_terminal=True)
    view = View(console)

    def write(event: Event) -> None:
        view(event)
        if isinstance(event, Finished | Ended):
            # The fonts that rich links to would be fetched from somebody else's server.
            picture = _LINKED_FONTS.sub("", console.export_svg(title="cuecard run"))
            path.write_text(picture, encoding="utf-8")

    return write


def _lines(event: Event) -> Iterator[Text]:
    match event:
        case Began():
            title = f"{event.scenario}: {event.title}" if event.title else event.scenario
            yield _line((title, "bold"), (f"  ({event.tools} tools)", "dim"))
        case Asked():
            yield _line((f"  turn {event.turn}  ", "dim"), (event.user, "cyan"))
        case StepTaken():
            yield from _step(event)
        case Answered():
            yield from (_line((f"{INDENT}{line}".rstrip(), "cyan")) for line in event.answer.splitlines())
            if event.stopped:
                yield _line((f"{INDENT}stopped: {event.stopped}", "red"))
        case Changed():
            yield from map(_change, event.changes)
        case Ended():
            yield from _end(event)
        case Finished():
            yield _result(event)


def _step(event: StepTaken) -> Iterator[Text]:
    more = f"{event.tokens_more:+,}" if event.tokens_more else ""
    numbers = (f"{event.number:>4} {event.manifest.total_tokens:>7,} {more:>6} ", "" if more else "dim")
    calls = [_call(call) for call in event.calls] or [[("answers", "")]]
    yield _line(numbers, *calls[0])
    yield from (_line((INDENT, ""), *call) for call in calls[1:])
    if event.discovered:
        yield _line((f"{INDENT}+ {', '.join(event.discovered)}", "green"))
    if event.before:
        news = [*(f"{name} entered" for name in event.entered), *(f"{name} changed" for name in event.changed)]
        yield from (_line((f"{INDENT}~ {line}", "yellow")) for line in news)


def _call(call: CallMade) -> list[tuple[str, str]]:
    # The answer follows in full, so its tool call needs no arguments.
    arguments = "" if call.tool == FINAL_ANSWER else f" {_short(call.arguments, 80)}"
    outcome = f"  failed: {_short(call.result, 200)}" if call.is_error else ""
    return [(call.tool, "bold"), (arguments, "dim"), (outcome, "red")]


def _change(change: Change) -> Text:
    if change.before is None:
        return _line((f"{CONTENT}+ {change.path} {_short(change.after, 100)}", "green"))
    if change.after is None:
        return _line((f"{CONTENT}- {change.path} {_short(change.before, 100)}", "red"))
    return _line((f"{CONTENT}~ {change.path} {_short(change.before, 50)} -> {_short(change.after, 50)}", "yellow"))


def _end(event: Ended) -> Iterator[Text]:
    if event.everything:
        requests = "1 request" if event.requests == 1 else f"{event.requests} requests"
        prompt = f"{requests}; prompt {event.first:,} -> {event.last:,} tokens"
        saved = f"{1 - event.sent / event.everything:.0%} less than with every instruction in every prompt"
        yield _line((f"  {prompt}; {event.sent:,} in all, {saved} ({event.everything:,})", ""))
    yield from (_line((line, "red")) for problem in event.problems for line in problem.picture().splitlines())
    yield Text("")


def _result(event: Finished) -> Text:
    if event.failed:
        failed = ", ".join(event.failed)
        return _line((f"{len(event.failed)} of {event.scenarios} scenarios did not go as they say: {failed}", "red"))
    played = "1 scenario" if event.scenarios == 1 else f"{event.scenarios} scenarios"
    return _line((f"{played} played to the end", "green"))


def _line(*parts: tuple[str, str]) -> Text:
    """Texts with their styles as one line; nothing in them can move the cursor or begin another line."""
    return Text.assemble(*((visible(text), style) for text, style in parts))


def _short(value: Json, most: int) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."
