"""Front matter: found, left out, and asked for its status even where its YAML is broken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.sources.file_budget import FileFrontMatter, is_draft, split_front_matter, status_of


@pytest.mark.parametrize(
    ("text", "raw", "body"),
    [
        ("---\na: 1\n---\nbody\n", "a: 1", "body\n"),
        ("---\r\na: 1\r\n---\r\nbody\r\n", "a: 1", "body\n"),
        ("\ufeff---\na: 1\n--- \nbody", "a: 1", "body"),
        ("---\n---\nbody", "", "body"),
        ("---\na: 1\n---", "a: 1", ""),
        ("---\na: 1\nbody", None, "---\na: 1\nbody"),
        ("\n---\na: 1\n---\nbody", None, "\n---\na: 1\n---\nbody"),
        ("a\n---\nb\n---\nc", None, "a\n---\nb\n---\nc"),
        ("", None, ""),
    ],
)
def test_front_matter_appears_between_two_fences_at_the_very_beginning(text: str, raw: str | None, body: str) -> None:
    assert split_front_matter(text) == FileFrontMatter(raw, body)


@pytest.mark.parametrize(
    "raw",
    [
        "status: draft",
        "status: DRAFT  # not yet",
        "name: x\nstatus: 'Draft'",
        '{name: x, status: "draft"}',
        "name: a: b\nstatus: draft",
        "name: [\nStatus: draft # half-written",
        "  name: a: b\n  status: draft",
        "name: &x 1\nstatus: draft",
    ],
)
def test_a_draft_is_a_draft_even_in_broken_yaml(raw: str) -> None:
    assert is_draft(raw)


@pytest.mark.parametrize(
    "raw",
    [
        None,
        "",
        "status: ready",
        "status: [draft]",
        "status:",
        "note: |\n  status: draft",
        "note: a: b\nx:\n  status: draft",
    ],
)
def test_only_a_file_that_says_draft_as_a_whole_is_a_draft(raw: str | None) -> None:
    assert not is_draft(raw)


def test_the_status_is_reported_as_written() -> None:
    assert status_of("status: Draft ") == "Draft"


@given(text=st.text(alphabet="-\n\ra: status draft'[{&", max_size=40))
def test_no_text_is_lost_or_refused(text: str) -> None:
    parts = split_front_matter(text)
    status_of(parts.raw)

    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    assert parts.body == whole if parts.raw is None else whole.endswith(parts.body) and parts.raw in whole
