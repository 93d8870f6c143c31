"""What a turn file expects of its prompt, compared, and names in it that do not exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from cuecard.catalogue.unknown_names import KnownNames
from cuecard.config.documents.document import Document, Path
from cuecard.config.sections.file_patterns import has_inputs
from cuecard.config.turn_file import Expectation, ResultEntry, TurnFile
from cuecard.engine import Engine
from cuecard.errors import DidYouMean, Problem, closest
from cuecard.model import RenderedResult, Step
from cuecard.pipeline.comparison import compare_manifests
from cuecard.pipeline.discovery import record_of
from cuecard.workbench.played import TurnSearch
from cuecard.workbench.testing.snapshot import section_texts

_LONG = 60


@dataclass(frozen=True)
class RenderedTurn:
    """A prompt under test, the prompt of the previous turn, and the tool results as the model reads them."""

    engine: Engine
    step: Step
    before: Step | None = None
    results: Sequence[RenderedResult] = ()

    @cached_property
    def text(self) -> str:
        """Everything that the engine wrote: system prompt, section messages, appended blocks."""
        texts = section_texts(self.step)
        system = "".join(text for record, text in texts if record.placement == "system")  # separators are in them
        return "\n".join([system, *(text for record, text in texts if record.placement != "system")])

    @cached_property
    def sections(self) -> list[str]:
        """The ids of the non-empty sections."""
        return [record.id for record, text in section_texts(self.step) if text.strip()]


@dataclass(frozen=True, slots=True)
class ExpectationPlace:
    """Where an expectation is written."""

    document: Document
    path: Path

    def problem(
        self, code: str, message: str, hint: str | DidYouMean = "", item: int | None = None, within: Path = ()
    ) -> Problem:
        """A problem of the key that the code names, a key `within` it, or one item of a list in it."""
        path: Path = (*self.path, code.removeprefix("expect-").replace("-", "_"), *within)
        if item is not None and isinstance(self.document.at(path), list):
            path = (*path, item)
        return self.document.problem(path, code, message, hint)


def unmet(expected: Expectation, shown: RenderedTurn, place: ExpectationPlace) -> Iterator[Problem]:
    """Every unmet expectation."""
    yield from _texts(expected, shown, place)
    yield from _tools(expected, shown, place)
    yield from _sections(expected, shown, place)
    yield from _results(expected, shown, place)
    tokens = shown.step.manifest.total_tokens
    if expected.max_tokens is not None and tokens > expected.max_tokens:
        dear = sorted(shown.step.manifest.sections, key=lambda record: -record.tokens)[:3]
        hint = "the longest sections: " + ", ".join(f"{record.id} ({record.tokens:,})" for record in dear)
        yield place.problem("expect-max-tokens", f"the prompt has {tokens:,} tokens", hint)
    if expected.shares_cache is not None:
        yield from _cache(shown, place, wanted=expected.shares_cache)


def _texts(expected: Expectation, shown: RenderedTurn, place: ExpectationPlace) -> Iterator[Problem]:
    for at, text in enumerate(expected.contains):
        if not text:
            yield place.problem("expect-contains", "every prompt contains an empty text", "write what is expected", at)
        elif text not in shown.text:
            near = closest(text, {line.strip() for line in shown.text.split("\n")})
            hint = f"the nearest line is: {near}" if near else "`cuecard render` prints the prompt"
            yield place.problem("expect-contains", f"the prompt does not contain {_cut(text)}", hint, at)
    for at, text in enumerate(expected.absent):
        if text in shown.text:
            holders = [record.id for record, whole in section_texts(shown.step) if text in whole]
            where = f"it is in section `{holders[0]}`" if holders else ""
            yield place.problem("expect-absent", f"the prompt contains {_cut(text)}", where, at)


def _tools(expected: Expectation, shown: RenderedTurn, place: ExpectationPlace) -> Iterator[Problem]:
    active, known = shown.step.active_tools, frozenset({shown.engine.search_tool, *shown.engine.tools})
    for at, tool in enumerate(expected.active):
        if tool not in active:
            hint = shown.step.refusal(tool) or "the turn's `tools` do not name it"
            yield place.problem("expect-active", *_not_active(tool, known, hint), at)
    for at, tool in enumerate(expected.inactive):
        if tool not in known:
            yield place.problem("expect-inactive", *_not_active(tool, known), at)
        elif tool in active:
            yield place.problem("expect-inactive", f"`{tool}` is active", f"active tools: {', '.join(active)}", at)


def _not_active(tool: str, known: frozenset[str], hint: str = "") -> tuple[str, str | DidYouMean]:
    if tool not in known:
        return f"`{tool}` is not a tool of this agent", DidYouMean(tool, known)
    return f"`{tool}` is not active", hint


def _sections(expected: Expectation, shown: RenderedTurn, place: ExpectationPlace) -> Iterator[Problem]:
    there = shown.sections
    known = frozenset((*there, *(section.id for section in shown.engine.agent.edition())))
    missing = [(at, name) for at, name in enumerate(expected.sections) if name not in there]
    for at, name in missing:
        hint = "it is empty in this turn" if name in known else DidYouMean(name, known)
        yield place.problem("expect-sections", f"there is no section `{name}`", hint, at)
    if not missing and (early := _out_of_order(expected.sections, there)):
        stand = ", ".join(name for name in there if name in expected.sections)
        yield place.problem(
            "expect-sections", f"`{early}` comes before the section listed before it", f"their order is: {stand}"
        )
    for at, name in enumerate(expected.without):
        if name in there:
            yield place.problem(
                "expect-without", f"there is a section `{name}`", "`cuecard render --manifest` shows why", at
            )
        elif name not in known:
            yield place.problem("expect-without", f"the agent has no section `{name}`", DidYouMean(name, known), at)


def _out_of_order(wanted: Iterable[str], there: list[str]) -> str:
    """The first section that comes before its predecessor in the list; empty if all are in order."""
    places = [(there.index(name), name) for name in wanted]
    return next((name for (before, _), (at, name) in pairwise(places) if at < before), "")


def _results(expected: Expectation, shown: RenderedTurn, place: ExpectationPlace) -> Iterator[Problem]:
    known = frozenset(name for made in shown.results for name in (made.tool, made.call_id) if name)
    for name, wanted in expected.results.items():
        found = [made for made in shown.results if name in {made.tool, made.call_id}]
        if not found:
            told = f"the `history` of this turn has no result of `{name}`"
            yield place.problem("expect-results", told, DidYouMean(name, known), within=(name,))
        for at, text in enumerate(wanted):
            if lacking := next((made for made in found if text not in made.text), None):
                message = f"the result does not contain {_cut(text)}"
                yield place.problem("expect-results", message, _told(lacking), at, within=(name,))


def _told(made: RenderedResult) -> str:
    rule = f"`{made.rule}` ({made.source})" if made.rule else "no template"
    return f"told by {rule}: {_cut(made.text)}"


def not_found(searches: Iterable[TurnSearch], document: Document, at: Path) -> Iterator[Problem]:
    """A problem for each search that does not find what it should."""
    for search in searches:
        wanted, place = search.entry.finds, (*at, "history", search.at, "finds")
        lacking = [name for name in wanted or () if name not in search.found]
        told = f"it finds {', '.join(search.found) or 'nothing'}"
        if lacking:
            message = f"{_cut(search.entry.search)} does not find {' or '.join(lacking)}"
            yield document.problem(place, "expect-finds", message, f"{told}\n`cuecard tools search` explains it")
        elif wanted == () and search.found:
            yield document.problem(place, "expect-finds", f"{_cut(search.entry.search)} should find nothing", told)


def _cache(shown: RenderedTurn, place: ExpectationPlace, *, wanted: bool) -> Iterator[Problem]:
    if shown.before is None:
        hint = "put several `turns` into one file; the second one can expect this"
        yield place.problem("expect-shares-cache", "there is no previous turn", hint)
        return
    broken = compare_manifests(shown.before.manifest, shown.step.manifest).first_break
    if wanted and broken:
        causes = "; ".join(str(cause) for cause in broken.causes)
        message = f"the prompt differs from the previous one at `{broken.id}`"
        anew = "".join(f"\n{cut.reason}" for cut in shown.step.manifest.cuts if cut.what == "baseline")
        hint = f"cause: {causes}\nread again: {broken.tokens:,} tokens{anew}"
        yield place.problem("expect-shares-cache", message, hint)
    elif not wanted and broken is None:
        yield place.problem(
            "expect-shares-cache", "the prompt begins with the previous one", "expect true, or remove it"
        )


def _cut(text: str) -> str:
    shown = " ".join(text.split()) or repr(text)[1:-1]
    return f"`{shown}`" if len(shown) <= _LONG else f"`{shown[:_LONG]}...`"


_LIKE = 0.8
"""The similarity from which the path of an unused file counts as misspelt."""


def unknown_names(turn: TurnFile, engine: Engine, document: Document, at: Path) -> Iterator[Problem]:
    """A problem for each name in `tools`, `discovered` and `ahead` that the agent does not know, and for unused files.

    In a running program, tools come and go, so there it is not a problem. An unused file may be the point of a test; it
    is a problem if no section reads files, or if its path is misspelt. So may a result of a tool without an entry, and
    a search that found one: names in `history` are a problem if they are misspelt.

    Args:
        turn: the turn.
        engine: the agent.
        document: the file of the turn.
        at: the path of the turn in it.
    """
    tools = frozenset(engine.tools)
    for key in ("tools", "discovered", "ahead") if tools else ():
        for place, name in enumerate(getattr(turn, key) or ()):
            if name not in tools:
                message = f"no tool is called `{name}`"
                yield document.problem((*at, key, place), "unknown-tool", message, DidYouMean(name, tools))
    yield from _unknown_in_history(turn, engine, document, (*at, "history"))
    known = _paths(engine)
    for path in turn.files:
        like = closest(path, known or (), _LIKE)
        if known is not None and path not in known and (like or not known):
            message, hint = f"no section reads the file `{path}` from the turn", "remove it"
            hint = f"did you mean `{like}`?" if like else hint
            yield document.problem((*at, "files", path), "no-effect", message, hint, key=True)


def _unknown_in_history(turn: TurnFile, engine: Engine, document: Document, at: Path) -> Iterator[Problem]:
    tools = KnownNames.of({*engine.tools, engine.search_tool})
    for place, entry in enumerate(turn.history):
        if not isinstance(entry, ResultEntry):
            continue
        found = record_of(entry.to_result(), engine.search_tool).found
        for name, key in ((entry.tool, "tool"), *((name, "result") for name in found)):
            if name not in tools.names and (meant := tools.missed(name)):
                told, hint = f"no tool is called `{name}`", f"did you mean `{meant}`?"
                yield document.problem((*at, place, key), "unknown-tool", told, hint)


def _paths(engine: Engine) -> frozenset[str] | None:
    """The paths that a host may supply; None if some are patterns."""
    sections = (section for edition in engine.agent.editions.values() for section in edition)
    supplied = [section.spec.files for section in sections if section.spec.files and section.spec.files.supplied]
    entries = [entry for files in supplied for entry in files.entries]
    if any(entry.glob or entry.upward or any(map(has_inputs, entry.path)) for entry in entries):
        return None
    return frozenset(path for entry in entries for path in entry.path)
