"""A version is checked as one piece, as `cuecard check --strict` checks a folder."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from cuecard.agent.build import AgentDraft, make_draft
from cuecard.agent.checks.tool_texts import definitions_in
from cuecard.agent.host_functions import LoadHelpers
from cuecard.agent.lint import all_problems, lint
from cuecard.agent.world import Memo
from cuecard.config.agent_file import TokensSpec
from cuecard.errors import Problem, SpecError
from cuecard.files.content import content_root
from cuecard.files.tokens import bundled_counter
from cuecard.library.versions import VersionContent

DROPPED = frozenset({"no-effect", "no-protocols", "section-order", "unused-input"})
"""The warnings that an edit may cause by taking out a placeholder."""


@cache
def _schema() -> str:
    return (content_root() / "schemas" / "core-template.rng").read_text(encoding="utf-8")


def draft_of(content: VersionContent, load: LoadHelpers) -> tuple[AgentDraft, tuple[Problem, ...]]:
    """The agent as far as it can be built, and everything that is wrong with it."""
    memo = Memo()
    draft = make_draft(content.sources, memo, load)
    encoding = (draft.spec.tokens if draft.spec else TokensSpec()).encoding
    definitions = {name: text for file in content.imported for name, text in definitions_in(file).items()}
    found = lint(draft, count=bundled_counter(encoding), schema=_schema(), definitions=definitions)
    return draft, all_problems(draft, found)


def check(content: VersionContent, load: LoadHelpers) -> str:
    """Refuse a version with a problem, warnings included; the name of the agent if there is none.

    Raises:
        SpecError: with every problem.
    """
    draft, problems = draft_of(content, load)
    counted = [each for each in problems if each.severity != "note"]
    if wrong := [each for each in counted if each.severity == "error" or each.message not in content.lost]:
        raise SpecError(map(_refused, wrong))
    return name_of(draft)


def _refused(problem: Problem) -> Problem:
    """A warning as the error that it is to a version."""
    if problem.severity == "error":
        return problem
    way_out = (
        f"a version may have no warnings: mend it, or write `accept: {{{problem.code}: REASON}}` in the agent file"
    )
    return replace(problem, severity="error", advice="\n".join(filter(None, (problem.hint, way_out))))


def name_of(draft: AgentDraft) -> str:
    """The name of the agent.

    Raises:
        SpecError: when its agent file is so wrong that nobody knows.
    """
    if draft.spec is None:
        raise SpecError(draft.problems)
    return draft.spec.agent


def dropped(content: VersionContent, load: LoadHelpers) -> tuple[str, ...]:
    """The warnings of an edited version about placeholders that are gone."""
    problems = draft_of(content, load)[1]
    return tuple(each.message for each in problems if each.severity == "warning" and each.code in DROPPED)
