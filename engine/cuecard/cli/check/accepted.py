"""Warnings that an agent file accepts as intended, each with a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cuecard.cli.check.codes import CODES
from cuecard.config.documents.document import Document
from cuecard.errors import DidYouMean, Problem


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
