"""`cuecard check`: every problem of an agent's files at once, and anything costly or surprising."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from cuecard.agent.draft import Draft, make_draft
from cuecard.agent.lint import lint
from cuecard.agent.memo import Memo
from cuecard.cli.check.accepted import without_accepted
from cuecard.cli.check.formats import Checked, Format, print_report
from cuecard.cli.check.selection import matcher
from cuecard.cli.counting import counted
from cuecard.config.agent_file import TokensSpec
from cuecard.config.documents.texts import AgentSources
from cuecard.errors import Problem, SpecError
from cuecard.model import CountTokens
from cuecard.outside.cache import cache_at
from cuecard.outside.content import content_root, find_content
from cuecard.outside.folder import read_agent
from cuecard.outside.helpers import helper_loader
from cuecard.outside.kept_counts import kept_counter
from cuecard.outside.paths import is_file, is_folder
from cuecard.outside.settings import read_settings
from cuecard.outside.walking import search
from cuecard.outside.yaml_files import AGENT_FILES
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a check.

    Attributes:
        format: `text` for people, `json` for machines, `github` for the annotations of a workflow.
        select: codes or prefixes of codes, separated by commas; only these count.
        ignore: the same for codes to ignore.
        strict: whether warnings fail the check, too.
        allow_code: whether helpers that an agent file names may be loaded.
    """

    format: Format = "text"
    select: str = ""
    ignore: str = ""
    strict: bool = False
    allow_code: bool = False


def check(*agents: Path, options: Options = Options()) -> int:
    """Print the problems; returns 1 if there is an error, 0 otherwise (warnings do not fail a check).

    Args:
        agents: agent files, their folders, or folders of such folders.
        options: how to check and what to show.

    Raises:
        InputError: when `select` or `ignore` names no check.
    """
    counts = matcher(options.select, options.ignore)
    checked, there = list[Checked](), dict[Path, None]()
    for each in map(find_content, agents):
        found, unread = _agents(each)
        there |= dict.fromkeys(found)
        checked += [Checked(unread, str(each))] if unread else []
    kept = cache_at(read_settings().cache_folder)
    counter = cache(lambda encoding: kept_counter(encoding, kept))  # stored counts are read once for all agents
    for agent in there:
        problems, facts = _problems(agent, counter, allow_code=options.allow_code)
        checked.append(Checked([problem for problem in problems if counts(problem.code)], facts))
    print_report(checked, options.format)
    told = [problem for each in checked for problem in each.problems]
    return 1 if any(options.strict or problem.severity == "error" for problem in told) else 0


def _agents(path: Path) -> tuple[Sequence[Path], Sequence[Problem]]:
    """The agent itself or, for a folder without an agent file, the agents in its folders; and the places that were
    not searched.
    """
    if not is_folder(path) or any(is_file(path / name) for name in AGENT_FILES):
        return [path], ()
    walk = search(path, AGENT_FILES.__contains__)
    found = sorted({path.joinpath(*each.shown[:-1]) for each in walk.found})
    return found or ([] if walk.problems else [path]), walk.problems


def _problems(agent: Path, counter: Callable[[str], CountTokens], *, allow_code: bool) -> tuple[Sequence[Problem], str]:
    try:
        draft = make_draft(read_agent(agent), Memo(), helper_loader(allow_code=allow_code))
    except SpecError as error:
        return error.problems, str(agent)
    count = counter((draft.spec.tokens if draft.spec else TokensSpec()).encoding)
    schema = (content_root() / "schemas" / "core-template.rng").read_text(encoding="utf-8")
    problems = [*draft.problems, *lint(draft, count=count, schema=schema)]
    if draft.specification and draft.spec:
        problems = without_accepted(problems, draft.specification.document, draft.spec.accept)
    return _sorted(problems, draft.sources), _facts(draft) or str(agent)


def _facts(draft: Draft) -> str:
    if draft.has_errors or draft.spec is None or draft.assembly is None:
        return ""
    return (
        f"{draft.spec.agent}: {counted(len(draft.assembly.compiled), 'section')}, {counted(len(draft.cards), 'tool')}"
    )


def _sorted(problems: Sequence[Problem], sources: AgentSources) -> list[Problem]:
    """Sorted by file, in reading order, and from top to bottom within each."""
    names = (*(source.name for source in sources.texts()), *(problem.name for problem in problems))
    files = list(dict.fromkeys(names))

    def place(problem: Problem) -> tuple[int, int, int]:
        line, column = (problem.span.line, problem.span.column) if problem.span else (0, 0)
        return files.index(problem.name), line, column

    return sorted(problems, key=place)
