"""Turn files as tests, and their outcomes as JUnit XML."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from cuecard.agent.build import make_draft
from cuecard.agent.world import Memo
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem, pictures, visible
from cuecard.files.content import YAML_SUFFIXES, find_content, has_agent, no_agent
from cuecard.files.folder import read_agent
from cuecard.files.host_code import helper_loader
from cuecard.files.roots import is_folder, is_there, shown
from cuecard.model import DeliveryWish
from cuecard.workbench.check.formats import Format, annotation
from cuecard.workbench.output import counted, json_text, report, write_output
from cuecard.workbench.step import open_engine
from cuecard.workbench.testing.coverage import Coverage, Reach
from cuecard.workbench.testing.goldens import FOLDER, unused
from cuecard.workbench.testing.turns import Outcome, find_turns, run_file


def junit(agent: str, outcomes: Sequence[Outcome]) -> str:
    """The report: one suite, one case for each turn."""
    failed = sum(bool(each.problems) for each in outcomes)
    seconds = f"{sum(each.seconds for each in outcomes):.3f}"
    counts = {"tests": str(len(outcomes)), "failures": str(failed), "errors": "0", "time": seconds}
    suites = Element("testsuites", counts)
    suite = SubElement(suites, "testsuite", {"name": visible(agent), **counts})
    for each in outcomes:
        about = {"classname": visible(agent), "name": visible(each.name), "file": visible(each.file)}
        case = SubElement(suite, "testcase", {**about, "time": f"{each.seconds:.3f}"})
        if each.problems:
            first = visible(each.problems[0].message)
            failure = SubElement(case, "failure", {"message": first, "type": each.problems[0].code})
            failure.text = "\n\n".join(problem.picture() for problem in each.problems)
    indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


@dataclass(frozen=True, slots=True)
class TestOptions:
    """The options of the command."""

    update: bool = False
    prune: bool = False
    format: Format = "text"
    junit: Path | None = None
    delivery: DeliveryWish | None = None
    allow_code: bool = False
    coverage: bool = False
    coverage_min: float | None = None


def is_turns(path: Path) -> bool:
    """Whether a path is that of turns, and no agent's: what is there is a folder or YAML."""
    return (is_folder(path) or (is_there(path) and path.suffix in YAML_SUFFIXES)) and not has_agent(path)


def test(agent: Path, turns: Sequence[Path], options: TestOptions) -> int:
    """Print the outcome of each turn; returns 0 if all passed, otherwise 1.

    Raises:
        SpecError: when the agent is wrong.
        InputError: when a named file does not exist, or there are no turn files.
    """
    if not turns and is_turns(agent) and has_agent(Path()):
        agent, turns = Path(), [agent]
    found = find_content(agent)
    if not is_there(found):
        raise InputError(Problem("missing-file", "no such file or folder", no_agent(found), str(found)))
    engine = open_engine(found, options.delivery, allow_code=options.allow_code)
    paths = find_turns(found, turns)
    outcomes: list[Outcome] = []
    for path in paths:
        outcomes += (done := run_file(engine, path, update=options.update))
        if options.format == "text":
            sys.stdout.write("".join(f"{_line(each)}\n" for each in done))
            sys.stdout.flush()
    covered = _covered(found, engine, outcomes, options)
    stale = [] if turns else _stale(paths, outcomes, prune=options.prune)
    if options.junit:
        write_output(options.junit, junit(engine.agent.spec.agent, outcomes), "--junit")
    low = [*_too_low(covered, options.coverage_min or 0.0, shown(found))]
    _print(outcomes, [*stale, *low], covered, options.format)
    return 1 if low or any(each.problems for each in outcomes) else 0


def _covered(
    agent: Path, engine: Engine, outcomes: Sequence[Outcome], options: TestOptions
) -> Mapping[str, Reach] | None:
    """What the turns reach, if that is asked for."""
    if not options.coverage and options.coverage_min is None:
        return None
    load = helper_loader(allow_code=options.allow_code)
    coverage = Coverage(engine, make_draft(read_agent(agent), Memo(), load), load)
    for each in outcomes:
        if each.played:
            coverage.add(each.played)
    return coverage.report()


def _too_low(covered: Mapping[str, Reach] | None, least: float, agent: str) -> Iterator[Problem]:
    for kind, reached in (covered or {}).items():
        if reached.share < least:
            message = f"the turns reach {reached.share:.0f} % of the {kind}; `--coverage-min` asks for {least:g} %"
            hint = "add turns that reach what `--coverage` lists, or remove what no turn needs"
            yield Problem("low-coverage", message, hint, agent)


def _line(outcome: Outcome) -> str:
    if outcome.problems:
        return f"✗ {visible(outcome.name)}: {counted(len(outcome.problems), 'problem')}"
    written = ", snapshot written" if outcome.written else ""
    return f"✓ {visible(outcome.name)}: {outcome.tokens or 0:,} tokens{written}"


def _stale(paths: Sequence[Path], outcomes: Sequence[Outcome], *, prune: bool) -> list[Problem]:
    """Snapshots that no turn uses; deleted on request."""
    used = [each.snapshot for each in outcomes if each.snapshot]
    found = [path for folder in dict.fromkeys(each.parent for each in paths) for path in unused(folder / FOLDER, used)]
    # It is unknown which snapshots an unreadable file uses.
    if prune and all(each.tokens is not None for each in outcomes):
        for path in found:
            path.unlink()
        return []
    way = "delete it: cuecard test --prune"
    return [
        Problem("snapshot-unused", "no turn uses this snapshot", way, shown(path), severity="warning") for path in found
    ]


def _print(
    outcomes: Sequence[Outcome], more: Sequence[Problem], covered: Mapping[str, Reach] | None, form: Format
) -> None:
    problems = [*(problem for each in outcomes for problem in each.problems), *more]
    failed = sum(bool(each.problems) for each in outcomes)
    if form == "json":
        turns = [_told(each) for each in outcomes]
        coverage = {kind: {**asdict(each), "share": round(each.share, 2)} for kind, each in (covered or {}).items()}
        print(json_text({**report(problems), "turns": turns, **({"coverage": coverage} if covered else {})}))
        return
    if form == "github":
        sys.stdout.write("".join(f"{annotation(problem)}\n" for problem in problems))
    elif problems:
        print(flush=True)
        sys.stderr.write(f"{pictures(problems)}\n\n")
    print(f"{counted(len(outcomes), 'turn')}: {len(outcomes) - failed} passed, {failed} failed")
    for kind, each in (covered or {}).items():
        print(f"{kind}: {each.total - len(each.missed):,} of {each.total:,} reached ({each.share:.0f} %)")
        sys.stdout.write("".join(f"  no turn reaches {name}\n" for name in each.missed))


def _told(outcome: Outcome) -> dict[str, object]:
    return {
        "name": outcome.name,
        "ok": not outcome.problems,
        "tokens": outcome.tokens,
        "seconds": round(outcome.seconds, 4),
        "snapshot": shown(outcome.snapshot) if outcome.snapshot else None,
        "written": outcome.written,
        "problems": [problem.to_json() for problem in outcome.problems],
    }
