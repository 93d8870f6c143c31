"""How `cuecard check` prints problems: pictures for people, JSON for machines, GitHub's annotations, SARIF."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

import cuecard
from cuecard.agent.checks.codes import CODES
from cuecard.errors import Problem, most_telling, pictures, visible
from cuecard.pipeline.delivery import measured
from cuecard.records import dataclass
from cuecard.workbench.output import counted, json_text, report

Format: TypeAlias = Literal["text", "json", "github", "sarif"]

MANY = 10_000
"""So many tokens of instructions are nobody's question: people are told that there are more."""


@dataclass(frozen=True, slots=True)
class AgentReport:
    """What is shown of an agent.

    Attributes:
        problems: what is wrong with it.
        name: its name; that of its file if it cannot be read.
        facts: how many `sections` and `tools` it has, as far as it can be read, and under `delivery` which one costs
            least, if that is a question; its `tokens` are None where there are more than `MANY`, uncounted.
    """

    problems: Sequence[Problem]
    name: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lines(self) -> Iterator[str]:
        """The summary for people."""
        number = Counter(problem.severity for problem in self.problems)
        counts = [counted(number["error"], "error"), counted(number["warning"], "warning")]
        counts += [counted(number["note"], "note")] if number["note"] else []
        what = [counted(self.facts[each], each.removesuffix("s")) for each in ("sections", "tools") if self.facts]
        yield f"{': '.join([visible(self.name), *filter(None, [', '.join(what)])])}: {', '.join(counts)}"
        if told := self.facts.get("delivery"):
            first, other = ("frozen", "discovery")[:: 1 if told["cheaper"] == "frozen" else -1]
            tokens = told["tokens"]
            said = f"all instructions take more than {MANY:,} tokens" if tokens is None else measured(tokens)
            yield f"  {said}: {first} is cheaper than {other}".replace("frozen", "`frozen`")


def print_report(checked: Sequence[AgentReport], form: Format) -> None:
    """Print problems and a summary: pictures go to stderr, everything else to stdout."""
    if form == "json":
        agents = [{"agent": each.name, **each.facts} for each in checked]
        print(json_text({**report([problem for each in checked for problem in each.problems]), "agents": agents}))
        return
    if form == "sarif":
        print(json_text(sarif([problem for each in checked for problem in each.problems])))
        return
    for each in checked:
        if form == "github":
            sys.stdout.write("".join(f"{annotation(problem)}\n" for problem in most_telling(each.problems)[0]))
        elif each.problems:
            sys.stdout.flush()
            codes = dict.fromkeys(problem.code for problem in most_telling(each.problems)[0])
            sys.stderr.write(
                f"{pictures(each.problems)}\n\nFor an example of each: cuecard explain {' '.join(codes)}\n\n"
            )
        print("\n".join(each.lines))


def sarif(problems: Sequence[Problem]) -> dict[str, Any]:
    """A log of SARIF 2.1.0 with every problem; code scanning and editors read it."""
    codes = list(dict.fromkeys(problem.code for problem in problems))
    rules = [
        {"id": code, "shortDescription": {"text": CODES.get(code, code)}, "help": {"text": Problem(code, "").docs}}
        for code in codes
    ]
    driver = {"name": "cuecard", "version": cuecard.__version__, "rules": rules}
    results = [_sarif_result(problem, codes.index(problem.code)) for problem in problems]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}


_SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def _sarif_result(problem: Problem, rule: int) -> dict[str, Any]:
    text = "\n".join(filter(None, (problem.message, *(f"in {link}" for link in problem.chain), problem.hint)))
    told: dict[str, Any] = {"ruleId": problem.code, "ruleIndex": rule, "level": problem.severity}
    told["message"] = {"text": text}
    if problem.name:
        place: dict[str, Any] = {"artifactLocation": {"uri": quote(problem.name.replace("\\", "/"))}}
        if span := problem.span:
            end = span.column + max(span.length, 1)
            place["region"] = {"startLine": span.line, "startColumn": span.column, "endColumn": end}
        told["locations"] = [{"physicalLocation": place}]
    return told


def annotation(problem: Problem) -> str:
    """A workflow command, escaped as GitHub's runner reads it (actions/toolkit, packages/core/src/command.ts)."""
    place = {"file": problem.name} if problem.name else {}
    if problem.span:
        last = problem.span.column + problem.span.length - 1
        place |= {"line": str(problem.span.line), "col": str(problem.span.column), "endColumn": str(last)}
    properties = ",".join(f"{key}={_property(value)}" for key, value in {**place, "title": problem.code}.items())
    told = (problem.message, *(f"in {link}" for link in problem.chain), problem.hint, problem.docs)
    message = "\n".join(filter(None, told))
    return f"::{'notice' if problem.severity == 'note' else problem.severity} {properties}::{_data(message)}"


def _data(text: str) -> str:
    shown = "".join(c if c in "\r\n" else visible(c) for c in text)
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
