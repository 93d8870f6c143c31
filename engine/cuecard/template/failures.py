"""Errors that concern a whole template: several joined into one, and failures without a place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from cuecard.errors import Problem, TemplateError, TemplateLimitError, TemplateRenderError, TemplateSyntaxError

T = TypeVar("T")


def all_of(work: Iterable[Callable[[], T]]) -> list[T]:
    """The results of all of these, or one error with all their problems."""
    results: list[T] = []
    errors: list[TemplateError] = []
    for each in work:
        try:
            results.append(each())
        except TemplateError as error:
            errors.append(error)
    if errors:
        raise joined_errors(errors)
    return results


def joined_errors(errors: Iterable[TemplateError]) -> TemplateError:
    """One error with the problems of all errors."""
    errors = list(errors)
    limits = all(isinstance(error, TemplateLimitError) for error in errors)
    return (TemplateLimitError if limits else TemplateSyntaxError)(p for error in errors for p in error.problems)


def recursion(name: str) -> TemplateLimitError:
    """The problem for Python's own recursion limit."""
    hint = "call it from a shallower stack, or use fewer nested blocks and partials"
    return TemplateLimitError(Problem("too-deep", "Python's recursion limit was reached", hint, name))


def unreadable_value(name: str, error: Exception) -> TemplateRenderError:
    """The problem for values that fail while they are read: objects posing as mappings or texts may raise anything."""
    message = f"a value cannot be read: it raised {type(error).__name__}"
    hint = "pass only texts, numbers, lists and mappings"
    return TemplateRenderError(Problem("not-data", message, hint, name))
