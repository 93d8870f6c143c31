"""Events on a terminal: a few lines per step; plain text where the output is a file or a pipe."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from cuecard.adapters.assistant import FINAL_ANSWER
from cuecard.cli.run_events import Answered, Asked, Began, CallMade, Change, Changed, Ended, Event, Finished, StepTaken
from cuecard.errors import visible
from cuecard.model import Json

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


def _lines(event: Event) -> Iterator[Text]:
    match event:
        case Began():
            title = f"{event.scenario}: {event.title}" if event.title else event.scenario
            yield Text.assemble((visible(title), "bold"), (f"  ({event.tools} tools)", "dim"))
        case Asked():
            yield Text.assemble((f"  turn {event.turn}  ", "dim"), (visible(event.user), "cyan"))
        case StepTaken():
            yield from _step(event)
        case Answered():
            yield from (Text(f"{INDENT}{visible(line)}".rstrip(), "cyan") for line in event.answer.splitlines())
            if event.stopped:
                yield Text(f"{INDENT}stopped: {visible(event.stopped)}", "red")
        case Changed():
            yield from map(_change, event.changes)
        case Ended():
            yield from _end(event)
        case Finished():
            yield _result(event)


def _step(event: StepTaken) -> Iterator[Text]:
    more = f"{event.tokens_more:+,}" if event.tokens_more else ""
    calls = [_call(call) for call in event.calls] or [Text("answers")]
    numbers = f"{event.number:>4} {event.manifest.total_tokens:>7,} {more:>6} "
    yield Text.assemble((numbers, "dim" if not more else ""), calls[0])
    yield from (Text.assemble(INDENT, call) for call in calls[1:])
    if event.discovered:
        yield Text(f"{INDENT}+ {', '.join(event.discovered)}", "green")
    if event.before:
        news = [*(f"{name} entered" for name in event.entered), *(f"{name} changed" for name in event.changed)]
        yield from (Text(f"{INDENT}~ {line}", "yellow") for line in news)


def _call(call: CallMade) -> Text:
    # The answer follows in full, so its tool call needs no arguments.
    arguments = "" if call.tool == FINAL_ANSWER else f" {_short(call.arguments, 80)}"
    outcome = (f"  failed: {_short(call.result, 200)}", "red") if call.is_error else ""
    return Text.assemble((call.tool, "bold"), (arguments, "dim"), outcome)


def _change(change: Change) -> Text:
    if change.before is None:
        return Text(f"{CONTENT}+ {change.path} {_short(change.after, 100)}", "green")
    if change.after is None:
        return Text(f"{CONTENT}- {change.path} {_short(change.before, 100)}", "red")
    return Text(f"{CONTENT}~ {change.path} {_short(change.before, 50)} -> {_short(change.after, 50)}", "yellow")


def _end(event: Ended) -> Iterator[Text]:
    if event.everything:
        prompt = f"{event.requests} requests; prompt {event.first:,} -> {event.last:,} tokens"
        saved = f"{1 - event.sent / event.everything:.0%} less than with every instruction in every prompt"
        yield Text(f"  {prompt}; {event.sent:,} in all, {saved} ({event.everything:,})")
    yield from (Text(problem.picture(), "red") for problem in event.problems)
    yield Text("")


def _result(event: Finished) -> Text:
    if event.failed:
        failed = ", ".join(event.failed)
        return Text(f"{len(event.failed)} of {event.scenarios} scenarios did not go as they say: {failed}", "red")
    played = "1 scenario" if event.scenarios == 1 else f"{event.scenarios} scenarios"
    return Text(f"{played} played as written", "green")


def _short(value: Json, most: int) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = visible(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 3]}..."
