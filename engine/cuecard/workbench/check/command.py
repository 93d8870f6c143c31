"""Every problem of an agent's files at once, and what a code means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from cuecard.agent.build import AgentDraft
from cuecard.agent.checks.codes import CODES
from cuecard.agent.specification import core_tools
from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.files.content import content_root
from cuecard.model import CountTokens, Json
from cuecard.model.prompt import least_tokens
from cuecard.pipeline.delivery import FEW
from cuecard.records import dataclass
from cuecard.workbench.check.formats import MANY, AgentReport, Format, print_report
from cuecard.workbench.output import json_text
from cuecard.workspace import Workspace


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
        format: `text` for people, `json` for machines, `github` for the annotations of a workflow, `sarif` for code
            scanning.
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
    """Print the problems; returns 1 if there is an error or, in a strict check, a warning; 0 otherwise.

    Args:
        agents: agent files, their folders, or folders of such folders.
        options: how to check and what to show.

    Raises:
        InputError: when `select` or `ignore` names no check.
    """
    counts = matcher(options.select, options.ignore)
    workspace = Workspace(agents, allow_code=options.allow_code)
    reports = []
    for each in [*workspace.unread, *map(workspace.check, workspace.agents)]:
        draft = None if each.draft is None or each.draft.has_errors else each.draft
        shown = [problem for problem in each.problems if counts(problem.code)]
        name = draft.spec.agent if draft and draft.spec else each.name
        exact = options.format == "json"
        facts = _facts(draft, workspace.counter(draft), exact=exact) if draft else {}
        reports.append(AgentReport(shown, name, facts))
    print_report(reports, options.format)
    told = [problem for each in reports for problem in each.problems]
    failing = {"error", "warning"} if options.strict else {"error"}
    return 1 if any(problem.severity in failing for problem in told) else 0


def _facts(draft: AgentDraft, count: CountTokens, *, exact: bool) -> dict[str, Json]:
    """How many sections and tools it has, and whether discovery pays, by the figure by which `auto` decides.

    That is only counted if it is wanted `exact`, or may be less than `MANY`: a table of tokens takes as long to unpack
    as all checks of hundreds of tools.
    """
    if draft.spec is None or draft.assembly is None:
        return {}
    facts: dict[str, Json] = {"sections": len(draft.assembly.compiled), "tools": len(draft.cards)}
    tools, protocols = draft.spec.tools, draft.protocols
    if protocols.keys() - {tools.search.tool, *core_tools(tools, draft.cards)}:
        texts = [protocol.text for protocol in protocols.values()]
        many = not exact and sum(map(least_tokens, texts)) > MANY
        tokens = MANY if many else sum(map(count, texts))
        cheaper = "frozen" if tokens <= FEW else "discovery"
        facts["delivery"] = {"tokens": None if many else tokens, "few": FEW, "cheaper": cheaper}
    return facts


_PAGES = Path("docs", "checks")
_CHAPTER = re.compile(r"^## `([a-z0-9-]+)`\n\n(.*?)\s*(?=^## `|\Z)", re.MULTILINE | re.DOTALL)


def explain(codes: Sequence[str], *, json: bool = False) -> None:
    """Print what each code means, why, how to mend it, and a pair; without codes, print a line for each known code.

    Args:
        codes: codes or prefixes of codes.
        json: whether to print `{"codes": [{"code", "docs", "meaning", "text"}, ...]}`.

    Raises:
        InputError: when one matches no code.
    """
    wanted = named(codes) if codes else list(CODES)
    texts = _texts() if codes or json else {}
    if json:
        rows = [
            {"code": code, "docs": Problem(code, "").docs, "meaning": CODES[code], "text": texts[code]}
            for code in wanted
        ]
        print(json_text({"codes": rows}))
    elif codes:
        print("\n\n".join(f"{code}\n\n{texts[code]}" for code in wanted))
    else:
        width = max(map(len, CODES))
        print("\n".join(f"{code:{width}}  {CODES[code]}" for code in wanted))


def _texts() -> Mapping[str, str]:
    pages = [page.read_text(encoding="utf-8") for page in (content_root() / _PAGES).glob("*.md")]
    return {found[1]: found[2] for page in pages for found in _CHAPTER.finditer(page)}
