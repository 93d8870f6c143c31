from __future__ import annotations

import pytest

from unit.agent.checks.agents import checked, codes, place


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Today is 2026-11-20.", "a date"),
        ("It is 2026-11-20T09:00:00Z now.", "a date"),
        ("As of 20 November 2026, ...", "a date"),
        ("As of Nov 20, 2026, ...", "a date"),
        ("Stand: 20.11.2026", "a date"),
        ("Write dates in full. Today is 20 November 2026.", "a date"),
        ("The date is 2026-11-20.", "a date"),
        ("Show the news of 20 November 2026.", "a date"),
        ("The time is 09:30.", "a time"),
        ("Started at 1795165200.", "a timestamp"),
        ("Session 3f2b8c1e-0d4a-4b6f-9a7e-1c2d3e4f5a6b.", "a UUID"),
        ("This is request #17.", "a counter"),
        ("Conversation number 8.", "a counter"),
        ("session id: 8841", "a counter"),
        ("Files are in /home/ann/site.", "a user's folder"),
        (r"Files are in C:\Users\ann.", "a user's folder"),
        ("Write to ann@bakery.org.", "a user's address"),
    ],
)
def test_text_that_looks_as_if_it_changed_is_reported(text: str, kind: str) -> None:
    (problem,) = checked(f"<a>\n<rules>{text}</rules>\n</a>")

    assert (problem.code, problem.severity) == ("volatile-text", "warning")
    assert f"looks like {kind}, " in problem.message


@pytest.mark.parametrize(
    "text",
    [
        "Write dates as YYYY-MM-DD, such as 2026-11-20.",
        "Times look like 09:30.",
        "Dates are written as 25 November 2026.",
        "Write each date in the form 25.11.2026, with dots.",
        "The date format is 2026-11-25.",
        "Show dates in full (25 November 2026).",
        "Always format a date as Nov 25, 2026.",
        "A date is never 11/25/2026 but written 25 November 2026.",
        "e.g. 20 November 2026",
        "You have up to 15 steps; see step 2.",
        "At most 2 retries per tool and 5 failures per request.",
        "Use about-2 if a slug is taken, in a ratio of 16:9.",
        "Write to ann@example.com.",
        "Call 1. search 2. read 3. write, in 2026.",
        "Version 1.2.3 of section 4.5.6789",
    ],
)
def test_what_is_an_example_or_an_ordinary_number_is_not(text: str) -> None:
    assert codes(f"<a>\n<rules>{text}</rules>\n</a>") == []


def test_an_example_speaks_for_its_own_line_only() -> None:
    (problem,) = checked("<a>\n<rules>For example:\n2026-11-20</rules>\n</a>")

    assert place(problem) == "agent.xml:3:1 2026-11-20"


def test_sections_that_change_anyway_may_hold_anything() -> None:
    assert codes("<a>\n<user>{{name}} since 2026-11-20</user>\n</a>") == []


def test_text_of_a_partial_is_reported_at_its_place_in_the_partial() -> None:
    partials = {"outer.hbs": "See:\n{{> inner}}", "inner.hbs": "Now\nit is 09:30."}
    (problem,) = checked("<a>\n<rules>{{> outer}}</rules>\n</a>", partials)

    assert place(problem) == "inner.hbs:2:7 09:30"


def test_text_of_a_partial_that_only_changing_sections_print_is_not() -> None:
    assert codes("<a>\n<user>{{name}} {{> p}}</user>\n</a>", {"p.hbs": "It is 09:30."}) == []


def test_what_appears_in_a_placeholder_or_a_comment_of_the_template_is_not_text() -> None:
    assert codes("<a>\n<rules>{{!-- 2026-11-20 --}}Be brief.</rules>\n</a>") == []
