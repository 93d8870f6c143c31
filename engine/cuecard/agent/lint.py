"""Checks for what is costly or surprising but not an error; run on request, never when an engine is opened."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from cuecard.agent.assembly import Assembly, CompiledSection
from cuecard.agent.build import AgentDraft
from cuecard.agent.checks.budget import CountedAgent, check_budget
from cuecard.agent.checks.caching import check_mappings, check_order, check_volatile
from cuecard.agent.checks.codes import CODES
from cuecard.agent.checks.discovery import check_cues, check_discovery
from cuecard.agent.checks.lifetimes import check_lifetimes
from cuecard.agent.checks.mentions import check_mentions
from cuecard.agent.checks.templates import check_compared, check_habits, check_result_habits
from cuecard.agent.checks.tool_texts import check_definitions, check_findable, check_texts
from cuecard.agent.sections.section import BUILT_IN, SUMMARY
from cuecard.agent.world import Memo
from cuecard.catalogue.unknown_names import words_of
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import Document
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.errors import DidYouMean, Problem
from cuecard.model import CountTokens
from cuecard.template.markup.xml import schema_problems
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import TemplateSource


def lint(
    draft: AgentDraft,
    *,
    count: CountTokens,
    schema: str,
    definitions: Mapping[str, str] = MappingProxyType({}),
    memo: Memo | None = None,
) -> list[Problem]:
    """Every problem in addition to those of the draft.

    Args:
        draft: an agent as far as it could be built; with errors, fewer checks are possible.
        count: how tokens are counted.
        schema: the RELAX NG schema of core templates, in XML syntax.
        definitions: the definitions of tools as JSON, as far as they are known.
        memo: what earlier checks of this agent have found.
    """
    spec, assembly = draft.spec, draft.assembly
    if spec is None or assembly is None:
        return []
    compiled = (*assembly.frame, *assembly.compiled, *assembly.further)
    memo = memo or Memo()
    template = draft.sources.template
    return [
        *(memo(_schema, template, schema) if template else ()),
        *check_volatile(compiled, draft.partials),
        *check_mappings(compiled, draft.partials, spec),
        *check_compared(compiled, draft.partials, spec),
        *check_habits(compiled, draft.partials, spec),
        *check_result_habits(draft.result_texts),
        *check_texts(draft.told, spec.inputs, memo),
        *check_definitions(draft.cards.values(), draft.sources.instructions, definitions, count),
        *check_findable(draft.cards.values(), spec, draft.sources.instructions),
        *_mentions(draft, definitions),
        *_counted(draft, assembly, spec, count),
    ]


def all_problems(draft: AgentDraft, linted: Sequence[Problem]) -> tuple[Problem, ...]:
    """What `cuecard check` says: the problems of a draft and those of `lint`, without the warnings that its file
    accepts; by file in reading order, and from top to bottom within each.
    """
    problems = [*draft.problems, *linted]
    if draft.specification and draft.spec:
        problems = without_accepted(problems, draft.specification.document, draft.spec.accept)
    return _sorted(problems, draft.sources)


def without_accepted(problems: Sequence[Problem], document: Document, accept: Mapping[str, str]) -> list[Problem]:
    """The problems without the warnings and notes that the file accepts; errors cannot be accepted.

    An accepted warning that does not occur is a warning itself, so that acceptances do not outlive their cause.
    """
    warned = {problem.code for problem in problems if problem.severity != "error"}
    left = [problem for problem in problems if problem.severity == "error" or problem.code not in accept]
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


def _sorted(problems: Sequence[Problem], sources: AgentSources) -> tuple[Problem, ...]:
    """Sorted by file, in reading order, and from top to bottom within each."""
    names = (*(source.name for source in sources.texts()), *(problem.name for problem in problems))
    files = {name: place for place, name in reversed([*enumerate(dict.fromkeys(names))])}

    def place(problem: Problem) -> tuple[int, int, int]:
        line, column = (problem.span.line, problem.span.column) if problem.span else (0, 0)
        return files[problem.name], line, column

    return tuple(sorted(problems, key=place))


def _schema(template: SourceText, schema: str) -> list[Problem]:
    """The problems of a template's structure, if it compiles."""
    source = TemplateSource(template.name, template.text)
    return schema_problems(source, parse(source), schema)


def _mentions(draft: AgentDraft, definitions: Mapping[str, str]) -> Iterator[Problem]:
    """The words that look like tools of these files, if they have any."""
    specification, cards = draft.specification, draft.cards
    if specification is None or not draft.told.known or not cards:
        return

    def other_names() -> Iterator[str]:
        yield from (*BUILT_IN, *(each.stem for each in draft.sources.partials), *(draft.names - cards.keys()))
        for schema in (*(card.input_schema for card in cards.values()), *map(json.loads, definitions.values())):
            yield from words_of(schema)

    yield from check_mentions(specification.document, draft.sources, draft.told.known, other_names)


def _counted(draft: AgentDraft, assembly: Assembly, spec: AgentFile, count: CountTokens) -> Iterator[Problem]:
    specification = draft.specification
    if specification is None:
        return
    agent = CountedAgent(specification.document, spec, assembly, draft.protocols, count)
    apart = () if spec.delivery == "rewrite" else [each for each in agent.system if not each.section.stays]
    yield from check_order([*assembly.frame[:1], *(each for each in agent.system if each not in apart)], agent.cost)
    yield from check_lifetimes([*assembly.frame, *assembly.compiled, *assembly.further], spec, agent.cost)
    yield from check_cues(specification.document, spec)
    yield from _unseen_summary(specification.document, spec, [*assembly.frame, *assembly.compiled, *assembly.further])
    compiled = (*assembly.compiled, *assembly.further)
    yield from check_discovery(specification.document, spec, [*draft.cards], compiled)
    if spec.budget.model_fields_set or any(each.section.spec.budget for each in agent.system):
        yield from check_budget(agent)


def _unseen_summary(document: Document, spec: AgentFile, sections: Iterable[CompiledSection]) -> Iterator[Problem]:
    history = spec.history
    if history is None or history.policy == "last" or history.summarize == "never":
        return
    if history.summary.show == "section" and not any(SUMMARY in each.section.reads for each in sections):
        message = "summaries of earlier messages are made, but no section shows them"
        hint = (
            f"print `{{{{{{{SUMMARY}}}}}}}` in a section, or write `summary: {{show: message}}` or `summarize: never`"
        )
        yield document.problem(("history",), "no-effect", message, hint, key=True, severity="warning")
