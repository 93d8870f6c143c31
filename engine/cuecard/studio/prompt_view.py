"""The Prompt screen: what the model read in a step, in order; what it costs, where it is written, what was cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cuecard.errors import CuecardError
from cuecard.model import Manifest
from cuecard.records import dataclass
from cuecard.studio.body_view import FORMS, BodyView, body_view
from cuecard.studio.cache_view import CacheView, cache_view
from cuecard.studio.problems import problem_views
from cuecard.studio.prompt_beside import cuts_by_reason
from cuecard.studio.rows import PromptRow, Rows
from cuecard.studio.screen import Question
from cuecard.studio.steps import StudioRequest
from cuecard.studio.tried import is_tried, sent_of

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class PromptView:
    """What the Prompt screen shows.

    Attributes:
        question: what the visitor came to find out.
        answer: the answer in one sentence.
        more: what else is to be said, a sentence each.
        manifest: the record of the prompt.
        system: the rows of the system prompt.
        after: the rows behind it, in the order in which the model reads them.
        unchanged: the step since which the system prompt is the same; empty if this is the first.
        cache: what the provider's cache makes of it; None for a prompt that nobody has sent.
        tiers: the tokens by tier.
        cuts: what was left out: for each reason, what.
        then: what the model then called; None where that is unknown.
        texts: whether the texts are known.
        body: the body of the request for the provider of the address, or why there is none; None if none is wanted.
    """

    question: str
    answer: str
    more: tuple[str, ...]
    manifest: Manifest
    system: tuple[PromptRow, ...]
    after: tuple[PromptRow, ...]
    unchanged: str
    cache: CacheView | None
    tiers: Mapping[str, int]
    cuts: tuple[tuple[str, tuple[str, ...]], ...]
    then: tuple[str, ...] | None
    texts: bool
    body: BodyView | str | None = None

    @property
    def hurt(self) -> bool:
        """Whether it is known in which section an error of the files is."""
        return any(row.hurt for row in (*self.system, *self.after))

    @property
    def names(self) -> Mapping[str, str]:
        """What the rows of sections are called, by id."""
        return {row.id: row.name for row in (*self.system, *self.after) if row.kind == "section"}


def prompt(asked: Question) -> Mapping[str, Any]:
    """What the template of the screen shows: the view, or the problems that stand in its way."""
    view, wrong = None, asked.state.problems
    if asked.engine is not None:
        try:
            view = prompt_view(asked)
        except CuecardError as error:
            wrong = error.problems
    shown, more = problem_views(wrong, asked.editor)
    return {"view": view, "problems": shown, "more": more, "forms": FORMS}


def prompt_view(asked: Question) -> PromptView:
    """The view of a step of a conversation or, without one, of the first step of a turn.

    Raises:
        CuecardError: when the prompt cannot be made, such as of a turn without a value that the agent needs.
    """
    assert asked.engine is not None  # noqa: S101 - without a good state, a screen shows the problems instead
    as_it_was = asked.run and not is_tried(asked.address)
    steps = asked.run.steps if asked.run and as_it_was else (sent_of(asked),)
    place = asked.step if as_it_was else 0
    sent, before = steps[place], steps[place - 1] if place else None
    manifest = sent.manifest
    system, after = Rows(asked.state, asked.engine, asked.editor, sent, before).made()
    tiers = {tier: sum(s.tokens for s in manifest.sections if s.tier == tier) for tier in ("static", "call", "step")}
    return PromptView(
        _question(asked, sent),
        _answer(sent, before, manifest),
        tuple(_more(asked, sent, manifest)),
        manifest,
        system,
        after,
        _unchanged(steps, place),
        cache_view(steps, place, asked.model) if as_it_was else None,
        tiers,
        tuple(cuts_by_reason(manifest)),
        sent.calls,
        bool(sent.texts),
        body_view(asked, sent) if asked.address.form else None,
    )


def _question(asked: Question, sent: StudioRequest) -> str:
    if asked.run and is_tried(asked.address):
        return f"What the model would read in step {asked.run.steps[asked.step].place} with these tools and budgets"
    if asked.run:
        return f"What the model read in step {sent.number} of turn {sent.turn}"
    if asked.address.found:
        return "What the model reads once a search has found " + _number(len(asked.address.found), "tool")
    return "What the model reads first"


def _answer(sent: StudioRequest, before: StudioRequest | None, manifest: Manifest) -> str:
    """What came in and what left, from the manifests alone."""
    blocks = sum(each.placement == "appended" for each in manifest.sections)
    behind = f"and {_number(blocks, 'text')} after it" if blocks else "and nothing after it"
    if before is None:
        tools = len(manifest.active_tools)
        return f"The system prompt, {behind}. The model may call {_number(tools, 'tool')}."
    same = "The system prompt as before" if sent.system == before.system else "Another system prompt than before"
    came = _number(len(sent.came), "tool").capitalize() + " entered here"
    left = _number(len(sent.gone), "tool") + " left" if sent.gone else "nothing left" if sent.came else "none left"
    return f"{same}, {behind}. {came}; {left}."


def _more(asked: Question, sent: StudioRequest, manifest: Manifest) -> Iterator[str]:
    """What else has to be said so that nobody believes what is not so."""
    state = asked.address.state
    if asked.engine and not asked.engine.sha256.startswith(state):
        yield f"The state {state[:8]} is no longer known; this is {asked.engine.sha256[:8]}, the newest one."
    if asked.run and is_tried(asked.address):
        yield "It was sent otherwise: tools are switched by hand, or budgets are tried."
    if asked.run and asked.run.kind != "recording" and asked.engine:
        made = manifest.configuration.sha256
        if not manifest.salt and made != asked.engine.sha256:
            yield f"It was made from state {made[:8]} of the files; links lead to the files as they are now."
    if not sent.texts and manifest.sections:
        yield "Your program recorded no texts: sections, tokens and reasons are shown. `texts=True` records them."
    if usage := sent.usage:
        told = f"The provider reported {usage.input_tokens:,} tokens, {usage.cached_tokens:,} of them from its cache"
        yield f"{told}, in its own count."
    if report := sent.cache or manifest.cache:
        why = f", because of {report.reason}" if report.reason else ""
        yield f"The provider reported a cache {report.outcome}{why}. {_VERDICTS[report.verdict]}"


_VERDICTS = {
    "agrees": "The manifests say the same.",
    "elsewhere": "Nothing of the prompt has changed: it was something that your program sends.",
    "overlooked": "The manifests say that the prompt changed.",
    "differs": "The manifests see the change in another part.",
    "unknown": "It cannot be compared with the manifests.",
}


def _unchanged(steps: Sequence[StudioRequest], place: int) -> str:
    """The first step from which on the system prompt has been the same; empty if it is this one."""
    first = place
    while first and steps[first - 1].system == steps[place].system:
        first -= 1
    return steps[first].place if first < place else ""


def _number(number: int, noun: str) -> str:
    word = _WORDS[number] if number < len(_WORDS) else f"{number:,}"
    return f"{word} {noun}{'' if number == 1 else 's'}"
