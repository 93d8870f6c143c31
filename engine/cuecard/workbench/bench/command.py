"""`cuecard bench search`: how well the search answers judged queries, compared with other search engines."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track

from cuecard.config.catalogue_file import read_catalogue
from cuecard.config.tools_spec import REMOVED_RANKER, SearchSpec, parse_ranker, was_ranker
from cuecard.errors import REMOVED, InputError, Problem, SpecError, did_you_mean, visible
from cuecard.files.content import find_content
from cuecard.files.roots import is_folder, shown
from cuecard.files.safe_read import MAX_LOG_BYTES, read_text
from cuecard.model import ToolCard
from cuecard.workbench.bench.baselines import BASELINES, Build, installed, named_build
from cuecard.workbench.bench.measure import (
    DEPTHS,
    JudgedQuery,
    Misses,
    RankerFigures,
    answers,
    find_misses,
    is_tool,
    measure,
    read_queries,
)
from cuecard.workbench.output import json_text
from cuecard.workbench.step import open_engine


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """The options of the command; `None` stands for the value from the agent file, or the default."""

    rankers: Sequence[str] = ()
    limit: int | None = None
    confidence: float | None = None
    cut: float | None = None
    as_json: bool = False
    allow_code: bool = False


def bench_search(catalogue: Path, queries: Path, options: BenchOptions) -> None:
    """Measure each ranker, and print the results.

    Raises:
        SpecError: with every problem of the catalogue or of the queries.
        InputError: with every wrong option.
    """
    builds = _wanted(options)
    cards, spec = _catalogue(find_content(catalogue), options)
    changed = {key: value for key in ("limit", "confidence", "cut") if (value := getattr(options, key)) is not None}
    spec = SearchSpec.model_validate({**spec.model_dump(exclude_unset=True), **changed})
    source = read_text(find_content(queries), limit=MAX_LOG_BYTES)
    asked = read_queries(source.text, source.name)
    _warn(asked, cards, source.name)
    found = {
        name: measure(name, build, cards, _progress(asked, name), _loose(spec) if name in BASELINES else spec)
        for name, build in builds.items()
    }
    own = next((name for name in (spec.ranker, *found) if name in found and name not in BASELINES), None)
    missed = find_misses(found[own], builds[own], cards, asked, spec) if own else None
    meant = found.get("semantic") if own != "semantic" else None
    if options.as_json:
        shape = {"tools": len(cards), "queries": len(asked), "limit": spec.limit}
        told = {**shape, "confidence": spec.confidence, "cut": spec.cut}
        rest = {"misses": missed.to_json(), "semantic": meant and _gained(missed, meant, asked)} if missed else {}
        print(json_text({**told, "rankers": [each.to_json() for each in found.values()], **rest}))
        return
    settings = f"limit {spec.limit}, confidence {spec.confidence:g}, cut {spec.cut:g}"
    print(f"{len(cards)} tools, {len(asked)} queries; {settings}", *_rows(found.values()), sep="\n")
    if missed:
        print("", *_missed(missed, len(asked)), *_meant(missed, meant, asked, is_wanted=not options.rankers), sep="\n")


def _catalogue(path: Path, options: BenchOptions) -> tuple[list[ToolCard], SearchSpec]:
    """The tools to search, and how, from an agent or a JSON file."""
    if path.suffix.lower() in {".yaml", ".yml"} or is_folder(path):
        engine = open_engine(path, allow_code=options.allow_code)
        cards, spec = [engine.tools[name] for name in engine.agent.searched], engine.agent.spec.tools.search
    else:
        source = read_text(path, limit=MAX_LOG_BYTES)
        cards, spec = read_catalogue(source.text, source.name), SearchSpec()
    if not cards:
        raise SpecError(
            Problem("missing-key", "there are no tools to search", "name a catalogue that contains tools", shown(path))
        )
    return cards, spec


def _wanted(options: BenchOptions) -> dict[str, Build]:
    known = installed()
    if not options.rankers:
        return known
    others = [name for name in options.rankers if name not in known]
    if wrong := [name for name in others if parse_ranker(name) is None]:
        raise InputError(
            Problem(REMOVED, f"the ranker `{name}` was removed", REMOVED_RANKER, "--ranker")
            if was_ranker(name)
            else Problem("wrong-option", f"there is no ranker `{name}` here", did_you_mean(name, known), "--ranker")
            for name in wrong
        )
    named = {name: named_build(name, allow_code=options.allow_code) for name in others}
    return {name: build for name, build in {**known, **named}.items() if name in options.rankers}


def _loose(spec: SearchSpec) -> SearchSpec:
    """The search without confidence and cut, for scores on other scales."""
    return spec.model_copy(update={"confidence": 0.0, "cut": 0.0})


def _warn(queries: Iterable[JudgedQuery], cards: Sequence[ToolCard], name: str) -> None:
    known: dict[str, bool] = {}
    for query in queries:
        for tool in sorted(query.tools):
            if tool not in known and not known.setdefault(tool, answers(tool, cards)):
                message = f"{name}:{query.line}: the catalogue has no tool `{tool}`, so no search can find it"
                sys.stderr.write(f"{visible(message)}\n")


def _progress(queries: Sequence[JudgedQuery], name: str) -> Iterator[JudgedQuery]:
    """The queries, with a bar on a terminal."""
    console = Console(stderr=True)
    yield from track(queries, name, console=console, transient=True, disable=not console.is_terminal)


_SHOWN = 20
"""The number of misses that are printed; `--json` has all of them."""


def _missed(missed: Misses, queries: int) -> Iterator[str]:
    """The phrases that would mend the misses, as entries have them."""
    if not missed.misses:
        yield f"{missed.ranker} misses none of the queries."
        return
    mended = sum(miss.mended for miss in missed.misses)
    change = f"recall {missed.recall:.3f} -> {missed.recall_mended:.3f}"
    if missed.lost:
        change += f", and lose what line {', '.join(map(str, missed.lost))} finds now"
    yield f"{missed.ranker} misses {len(missed.misses)} of {queries} queries; phrases would mend {mended} ({change}):"
    shown = missed.misses[:_SHOWN]
    for tool in dict.fromkeys(tool for miss in shown for tool in miss.tools):
        yield f"  {visible(tool)}:"
        for miss in (miss for miss in shown if tool in miss.tools):
            end = f"line {miss.query.line}" if miss.mended else f"line {miss.query.line}: still missed with this phrase"
            yield f"    - {visible(json_text(miss.phrase))}  # {end}"
    if more := len(missed.misses) - len(shown):
        yield f"  ... and {more} more: --json has all of them"


def _gained(missed: Misses, meant: RankerFigures, queries: Sequence[JudgedQuery]) -> dict[str, int]:
    """How many of the misses another ranker finds, and how many it misses that are found now."""
    misses = {miss.query.line for miss in missed.misses}
    whole = {
        query.line
        for query, hits in zip(queries, meant.answers, strict=True)
        if all(any(is_tool(name, hit) for hit in hits) for name in query.tools)
    }
    return {"found": len(misses & whole), "lost": len({query.line for query in queries} - misses - whole)}


def _meant(
    missed: Misses, meant: RankerFigures | None, queries: Sequence[JudgedQuery], *, is_wanted: bool
) -> Iterator[str]:
    """What the extra `semantic` would change."""
    if meant:
        gained = _gained(missed, meant, queries)
        change = f"finds {gained['found']} of the misses, and misses {gained['lost']} that {missed.ranker} finds"
        yield f"`semantic` {change} ({meant.returned:.1f} tools a search)."
    elif is_wanted and missed.ranker != "semantic":
        yield 'What `semantic` would change was not measured: pip install "cuecard[semantic]"'


def _rows(found: Iterable[RankerFigures]) -> Iterator[str]:
    yield ""
    depths = "".join(f"{f'R@{depth}':>6}" for depth in DEPTHS)
    yield f"{'':12}{depths}   tools recall  empty   build ms query ms"
    for each in found:
        recalls = "".join(f"{share:6.3f}" for share in each.recall.values())
        answered = f"{each.returned:8.2f} {each.recall_returned:6.3f} {each.empty:6.3f}"
        yield f"{each.ranker:12}{recalls}{answered}   {each.build_ms:8.1f} {each.query_ms:8.2f}"
    yield ""
    yield "R@k: right tools among the first k, without a cut. tools, recall, empty: for what a search returns."
