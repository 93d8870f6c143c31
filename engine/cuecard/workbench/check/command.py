"""Every problem of an agent's files at once, and what a code means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from cuecard.agent.build import AgentDraft, make_draft
from cuecard.agent.lint import lint
from cuecard.agent.specification import core_tools
from cuecard.agent.world import Memo
from cuecard.config.agent_file import TokensSpec
from cuecard.config.documents.document import Document
from cuecard.config.documents.sources import AgentSources
from cuecard.errors import DidYouMean, InputError, Problem, SpecError, did_you_mean
from cuecard.files.cache import cache_at
from cuecard.files.content import AGENT_FILES, content_root, find_content
from cuecard.files.folder import read_agent
from cuecard.files.host_code import helper_loader
from cuecard.files.roots import is_file, is_folder
from cuecard.files.settings import read_settings
from cuecard.files.tokens import kept_counter
from cuecard.files.tree import search
from cuecard.model import CountTokens
from cuecard.pipeline.delivery import FEW, measured
from cuecard.records import dataclass
from cuecard.workbench.check.codes import CODES
from cuecard.workbench.check.formats import AgentProblems, Format, print_report
from cuecard.workbench.output import counted, json_text


def without_accepted(problems: Sequence[Problem], document: Document, accept: Mapping[str, str]) -> list[Problem]:
    """The problems without the warnings that the file accepts; errors cannot be accepted.

    An accepted warning that does not occur is a warning itself, so that acceptances do not outlive their cause.
    """
    warned = {problem.code for problem in problems if problem.severity == "warning"}
    left = [problem for problem in problems if problem.severity != "warning" or problem.code not in accept]
    for code in accept:
        at = ("accept", code)
        if code not in CODES:
            left.append(
                document.problem(
                    at, "unknown-code", f"`{code}` is not a check", DidYouMean(code, frozenset(CODES)), key=True
                )
            )
        elif code not in warned:
            message = f"the warning `{code}` no longer occurs"
            left.append(document.problem(at, "unused-acceptance", message, "remove it", key=True, severity="warning"))
    return left


def matcher(select: str, ignore: str) -> Callable[[str], bool]:
    """The test whether a code counts: selected (by default, all are) and not ignored.

    Args:
        select: codes or prefixes of codes (`yaml` stands for every `yaml-...`), separated by commas.
        ignore: the same.

    Raises:
        InputError: with every name that matches no code.
    """
    selected, ignored = _names(select), _names(ignore)
    options = {"--select": selected, "--ignore": ignored}
    problems = [problem for option, names in options.items() for problem in _unknown(option, names)]
    if problems:
        raise InputError(problems)
    return lambda code: (not selected or _fits(code, selected)) and not _fits(code, ignored)


def named(names: Sequence[str]) -> list[str]:
    """The codes with these names, in the order of the table.

    Args:
        names: codes or prefixes of codes; a name that is itself a code stands only for that code.

    Raises:
        InputError: with every name that fits no code.
    """
    if problems := list(_unknown("CODE", list(names))):
        raise InputError(problems)
    return [code for code in CODES if code in names or _fits(code, [name for name in names if name not in CODES])]


def _names(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip().removesuffix("-"))]


def _fits(code: str, names: list[str]) -> bool:
    return any(f"{code}-".startswith(f"{name}-") for name in names)


def _unknown(option: str, names: list[str]) -> Iterator[Problem]:
    for name in names:
        if not any(_fits(code, [name]) for code in CODES):
            hint = did_you_mean(name, CODES)
            yield Problem("unknown-code", f"`{name}` is neither a check nor the beginning of one", hint, option)


@dataclass(frozen=True, slots=True)
class CheckOptions:
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


def check(*agents: Path, options: CheckOptions = CheckOptions()) -> int:
    """Print the problems; returns 1 if there is an error, 0 otherwise (warnings do not fail a check).

    Args:
        agents: agent files, their folders, or folders of such folders.
        options: how to check and what to show.

    Raises:
        InputError: when `select` or `ignore` names no check.
    """
    counts = matcher(options.select, options.ignore)
    checked, there = list[AgentProblems](), dict[Path, None]()
    for each in map(find_content, agents):
        found, unread = _agents(each)
        there |= dict.fromkeys(found)
        checked += [AgentProblems(unread, str(each))] if unread else []
    kept = cache_at(read_settings().cache_folder)
    counter = cache(lambda encoding: kept_counter(encoding, kept))  # stored counts are read once for all agents
    for agent in there:
        made = _checked(agent, counter, allow_code=options.allow_code)
        checked.append(replace(made, problems=[problem for problem in made.problems if counts(problem.code)]))
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


def _checked(agent: Path, counter: Callable[[str], CountTokens], *, allow_code: bool) -> AgentProblems:
    try:
        draft = make_draft(read_agent(agent), Memo(), helper_loader(allow_code=allow_code))
    except SpecError as error:
        return AgentProblems(error.problems, str(agent))
    count = counter((draft.spec.tokens if draft.spec else TokensSpec()).encoding)
    schema = (content_root() / "schemas" / "core-template.rng").read_text(encoding="utf-8")
    problems = [*draft.problems, *lint(draft, count=count, schema=schema)]
    if draft.specification and draft.spec:
        problems = without_accepted(problems, draft.specification.document, draft.spec.accept)
    return AgentProblems(_sorted(problems, draft.sources), _facts(draft) or str(agent), _delivery(draft, count))


def _delivery(draft: AgentDraft, count: CountTokens) -> str:
    """Whether discovery pays, by the figure by which `auto` decides."""
    protocols = draft.protocols
    if draft.has_errors or draft.spec is None:
        return ""
    tools = draft.spec.tools
    if not protocols.keys() - {tools.search.tool, *core_tools(tools, draft.cards)}:
        return ""
    tokens = sum(count(protocol.text) for protocol in protocols.values())
    cheaper = "`frozen` is cheaper than discovery" if tokens <= FEW else "discovery is cheaper than `frozen`"
    return f"{measured(tokens)}: {cheaper}"


def _facts(draft: AgentDraft) -> str:
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


PAGE = Path("docs", "checks.md")
_CHAPTER = re.compile(r"^### `([a-z0-9-]+)`\n\n(.*?)\s*(?=^### `|^<!-- end -->)", re.MULTILINE | re.DOTALL)


def explain(codes: Sequence[str], *, json: bool = False) -> None:
    """Print what each code means, with its examples; without codes, print one line for each known code.

    Args:
        codes: codes or prefixes of codes.
        json: whether to print `{"codes": [{"code", "docs", "meaning", "text"}, ...]}`.

    Raises:
        InputError: when one matches no code.
    """
    wanted = named(codes) if codes else list(CODES)
    texts = _texts() if codes or json else {}
    if json:
        rows = [{"code": code, "docs": _place(code), "meaning": CODES[code], "text": texts[code]} for code in wanted]
        print(json_text({"codes": rows}))
    elif codes:
        print("\n\n".join(f"{code} ({_place(code)})\n\n{texts[code]}" for code in wanted))
    else:
        width = max(map(len, CODES))
        print("\n".join(f"{code:{width}}  {CODES[code]}" for code in wanted))


def _texts() -> Mapping[str, str]:
    page = (content_root() / PAGE).read_text(encoding="utf-8")
    return {found[1]: found[2] for found in _CHAPTER.finditer(page)}


def _place(code: str) -> str:
    return Problem(code, "").docs
