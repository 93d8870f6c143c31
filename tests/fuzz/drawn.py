"""What every error of a text that came from anywhere must be able to do."""

from __future__ import annotations

from cuecard import CuecardError


def check_drawn(error: CuecardError, *texts: str) -> None:
    """It has problems, each with a code, a message, a place and a line of one of the texts, and it draws them."""
    assert error.problems
    assert str(error)
    for problem in error.problems:
        assert problem.code
        assert problem.message
        assert any(problem.source in text for text in texts)
        if problem.span:
            assert min(problem.span.line, problem.span.column, problem.span.length) > 0


def check_told(error: CuecardError) -> None:
    """The same of an error that is about values, which have no lines."""
    assert error.problems
    assert all(problem.code and problem.message for problem in error.problems)
    assert str(error)
