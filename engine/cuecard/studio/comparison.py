"""Two prompts compared: which one an address means by A, and how B differs, by section, line and word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from cuecard.engine import Engine
from cuecard.errors import CuecardError, shortened, visible
from cuecard.model import Tier
from cuecard.pipeline.changes import Change, ChangeKind
from cuecard.pipeline.comparison import compare_manifests
from cuecard.studio.break_view import PricedStep
from cuecard.studio.runs import Runs
from cuecard.studio.screen import Question
from cuecard.studio.steps import DeliveryRun
from cuecard.workbench.diff.revision import tree_of
from cuecard.workbench.diff.sides import Side, agent_at
from cuecard.workbench.diff.view import line_differences
from cuecard.workbench.step import open_engine

Sign: TypeAlias = Literal["", "+", "-"]

MAX_DIFF_LINES = 400
"""The number of lines of a section that a comparison shows; of more, it says how many."""

_ALIKE, _LONGEST = 0.5, 2_000
"""From which likeness the words of two lines are compared, and up to which length."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_STEP = re.compile(r"\d{1,7}\.\d{1,7}")
_UNKNOWN = "records hold manifests and no messages, so they cannot be played again"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a comparison.

    Attributes:
        old: its number in the earlier text, from 1; None if it is not there.
        new: its number in the later one.
        sign: `+` for a line that came, `-` for one that went.
        words: its words, each with whether it differs from the line that it replaces or is replaced by.
    """

    old: int | None
    new: int | None
    sign: Sign
    words: tuple[tuple[str, bool], ...]

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join(word for word, _ in self.words)


@dataclass(frozen=True, slots=True)
class SectionDiff:
    """A section that differs.

    Attributes:
        id: its id.
        kind: what happened to it.
        tier: how often it may change.
        source: where it is written, or which result or message brought it.
        before: its tokens in the earlier prompt, and `after` in the later one.
        why: the reasons, the likeliest first.
        lines: the differing lines with context; None where a text was not recorded.
        more: how many lines are not shown.
        hashes: the beginnings of the fingerprints of both texts; empty where there is none.
    """

    id: str
    kind: ChangeKind
    tier: Tier
    source: str
    before: int
    after: int
    why: str
    lines: tuple[DiffLine, ...] | None
    more: int = 0
    hashes: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class PromptPair:
    """Two prompts.

    Attributes:
        before: the tokens of the earlier one, and `after` of the later one.
        changed: the sections that differ, in the order of the prompt.
        same: the ids of the others, and `same_tokens` what they cost.
        texts: whether the texts of both are known.
        problem: why they cannot be compared; empty if they can.
    """

    before: int
    after: int
    changed: tuple[SectionDiff, ...] = ()
    same: tuple[str, ...] = ()
    same_tokens: int = 0
    texts: bool = True
    problem: str = ""

    @property
    def sections(self) -> int:
        """How many sections there are in both."""
        return len(self.changed) + len(self.same)


def compare(a: Side, b: Side) -> PromptPair:
    """The differences of two prompts, or why they cannot be told."""
    texts = a.texts is not None and b.texts is not None
    totals = a.manifest.total_tokens, b.manifest.total_tokens
    try:
        found = compare_manifests(a.manifest, b.manifest)
    except CuecardError as error:
        return PromptPair(*totals, texts=texts, problem=error.problems[0].message)
    same = [change for change in found.changes if change.kind == "same"]
    changed = tuple(_section(a, b, change) for change in found.changes if change.kind != "same")
    return PromptPair(*totals, changed, tuple(each.id for each in same), sum(each.tokens_after for each in same), texts)


def _section(a: Side, b: Side, change: Change) -> SectionDiff:
    old, new = _text(a, change.at_before), _text(b, change.at_after)
    lines = None if old is None or new is None else differences(old, new)
    hashes = _hash(a, change.at_before), _hash(b, change.at_after)
    shown = None if lines is None else lines[:MAX_DIFF_LINES]
    return SectionDiff(
        change.id,
        change.kind,
        change.tier,
        change.source,
        change.tokens_before,
        change.tokens_after,
        "; ".join(map(str, change.causes)),
        shown,
        len(lines or ()) - len(shown or ()),
        hashes,
    )


def _text(side: Side, at: int | None) -> str | None:
    if side.texts is None:
        return None
    return "" if at is None else side.texts[at]


def _hash(side: Side, at: int | None) -> str:
    return "" if at is None else side.manifest.sections[at].sha256[:8]


def differences(old: str, new: str) -> tuple[DiffLine, ...]:
    """The differing lines of two texts, with three lines of context, and the words that differ in replaced lines."""
    before, after = ([visible(line.replace("\t", "    ")) for line in text.splitlines()] for text in (old, new))
    return tuple(_with_words(list(_numbered(line_differences(before, after)))))


def _numbered(unified: Sequence[str]) -> Iterator[tuple[int | None, int | None, Sign, str]]:
    old = new = 0
    for line in unified:
        if hunk := _HUNK.fullmatch(line):
            old, new = int(hunk[1]), int(hunk[2])
        elif line[:1] == "-":
            yield old, None, "-", line[1:]
            old += 1
        elif line[:1] == "+":
            yield None, new, "+", line[1:]
            new += 1
        else:
            yield old, new, "", line[1:]
            old, new = old + 1, new + 1


def _with_words(rows: Sequence[tuple[int | None, int | None, Sign, str]]) -> Iterator[DiffLine]:
    """Lines that went, followed by as many that came, are pairs."""
    at = 0
    while at < len(rows):
        gone = _run(rows, at, "-")
        come = _run(rows, at + gone, "+")
        pairs = [_words(rows[at + n][3], rows[at + gone + n][3]) for n in range(min(gone, come))]
        marked = [*(pair[0] for pair in pairs), *[None] * (gone - len(pairs)), *(pair[1] for pair in pairs)]
        count = max(1, gone + come)
        for n in range(count):
            old, new, sign, text = rows[at + n]
            words = marked[n] if n < len(marked) else None
            yield DiffLine(old, new, sign, words or ((text, False),))
        at += count


def _run(rows: Sequence[tuple[int | None, int | None, Sign, str]], at: int, sign: Sign) -> int:
    end = at
    while end < len(rows) and rows[end][2] == sign:
        end += 1
    return end - at


_Words: TypeAlias = tuple[tuple[str, bool], ...]


def _words(old: str, new: str) -> tuple[_Words | None, _Words | None]:
    """The words of two lines; None where the lines are not alike, so that words would say nothing."""
    if max(len(old), len(new)) > _LONGEST:
        return None, None
    before, after = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return None, None
    left, right = [], []
    for tag, start, end, start_after, end_after in matcher.get_opcodes():
        left.append(("".join(before[start:end]), tag != "equal"))
        right.append(("".join(after[start_after:end_after]), tag != "equal"))
    return tuple(each for each in left if each[0]), tuple(each for each in right if each[0])


@dataclass(frozen=True, slots=True)
class Against:
    """What a step is compared with.

    Attributes:
        label: what people call it, such as `1.5` or `2.1 under append`.
        kind: `step`, `run`, `delivery` or `revision`.
        side: its prompt; None where there is none.
        priced: its price; None likewise.
        problem: why there is none.
    """

    label: str
    kind: str
    side: Side | None = None
    priced: PricedStep | None = None
    problem: str = ""


def priced_steps(run: DeliveryRun, asked: Question) -> list[PricedStep]:
    """The steps of a conversation with their prices for the model of the address."""
    rows = asked.runs.rows(run, asked.model)
    before = (None, *(step.billed for step in run.steps))
    return [PricedStep(*each) for each in zip(run.steps, rows, before, strict=False)]


def against(asked: Question, run: DeliveryRun, steps: list[PricedStep]) -> Against | None:
    """What `a` of the address names; None for the first step, which has none before it."""
    kind, _, name = asked.address.a.partition(":")
    sent = steps[asked.step].sent
    if not asked.address.a:
        return _step(steps[asked.step - 1]) if asked.step else None
    if _STEP.fullmatch(asked.address.a):
        found = [each for each in steps if each.sent.place == asked.address.a]
        label = asked.address.a
        return _step(found[0]) if found else Against(label, "step", problem="this conversation has no such step")
    if kind == "run":
        other = asked.runs.run(name, _engine(asked), asked.model)
        problem = "there is no such conversation, or this agent cannot play it"
        return _in_run(asked, other, sent.place, "run", lambda run: f"{run.name} · {run.delivery}", problem)
    if kind == "delivery":
        other = asked.runs.under(run, name, _engine(asked), asked.model)
        problem = _UNKNOWN if run.transcript is None else f"there is no delivery `{shortened(name)}`"
        return _in_run(asked, other, sent.place, "delivery", lambda run: run.delivery, problem)
    return _revision(asked, run, name if kind == "rev" else asked.address.a)


def _engine(asked: Question) -> Engine:
    if asked.engine is None:  # no run is shown without one
        raise LookupError(asked.state.name)
    return asked.engine


def _step(priced: PricedStep) -> Against:
    return Against(priced.sent.place, "step", priced.sent.held().side, priced)


def _in_run(
    asked: Question, run: DeliveryRun | None, place: str, kind: str, name: Callable[[DeliveryRun], str], problem: str
) -> Against:
    if run is None:
        return Against("nothing", kind, problem=problem)
    at = max(run.place_of(place), -1)
    priced = priced_steps(run, asked)[at]
    joint = {"run": "of", "revision": "at"}.get(kind, "under")
    label = f"{priced.sent.place} {joint} {name(run)}"
    return Against(label, kind, priced.sent.held().side, priced)


def _revision(asked: Question, run: DeliveryRun, revision: str) -> Against:
    """The same step as an earlier state of the files would have made it."""
    if run.transcript is None:
        return Against(revision, "revision", problem=_UNKNOWN)
    try:
        played = revision_run(asked.runs, asked, run, revision)
    except CuecardError as error:
        return Against(revision, "revision", problem=error.problems[0].message)
    problem = "this revision of the agent cannot play the conversation"
    return _in_run(asked, played, run.steps[asked.step].place, "revision", lambda _: revision, problem)


def revision_run(runs: Runs, asked: Question, run: DeliveryRun, revision: str) -> DeliveryRun | None:
    """A recording played by the agent of a revision; kept, since a revision does not change.

    Raises:
        CuecardError: when there is no such revision, or the agent in it is wrong.
    """
    path = asked.state.path
    _, tree = tree_of(revision, path.parent)
    key = f"{tree} {path}"
    engine = runs.revisions.get(key)
    if engine is None:
        with agent_at(revision, f"./{path.name}", path.parent) as there:
            engine = open_engine(there)
        runs.revisions.keep(key, engine)
    return runs.under(run, run.delivery, engine, asked.model)
