"""The source `files`: which files are printed, in which form, within which limits; nothing is lost without a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import FileText, SpecError, trusted
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.sections.files_spec import FilesSpec
from cuecard.sources.content import Content, SourceInput
from cuecard.sources.files import compile_files
from cuecard.types import Cut, Json, SourceRow, TemplateSyntaxError

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
NOTE = "You may edit this file."

WORKSPACE = f"""
entries:
  - {{path: SOUL.md, keep_empty: true, suffix: {NOTE}}}
  - {{path: IDENTITY.md, keep_empty: true, suffix: {NOTE}}}
  - path: USER.md
"""


def spec(text: str = WORKSPACE, **changes: Json) -> FilesSpec:
    return validate(read_yaml(text, "files.yaml"), FilesSpec).model_copy(update=changes)


def held(files: Mapping[str, str | None]) -> dict[str, FileText]:
    return {path: FileText(f"/home/{path}", text) for path, text in files.items()}


def content(spec: FilesSpec, files: Mapping[str, FileText], **values: Json) -> Content:
    return compile_files(spec, "files", printed=trusted)(SourceInput(values, NOW, files=files))


def test_files_appear_in_the_order_of_the_list_with_their_suffixes() -> None:
    files = held({"USER.md": "Name: Kim", "SOUL.md": "\r\nVoice: calm\r\nand brief\r\n", "IDENTITY.md": "Name: Cue"})

    assert content(spec(), files).text == (
        f"### SOUL.md (/home/SOUL.md)\nVoice: calm\nand brief\n\n{NOTE}\n\n"
        f"### IDENTITY.md (/home/IDENTITY.md)\nName: Cue\n\n{NOTE}\n\n"
        "### USER.md (/home/USER.md)\nName: Kim"
    )


def test_the_limits_cut_at_that_very_code_point() -> None:
    smile = "\U0001f642"
    files = held({"SOUL.md": smile * 120, "IDENTITY.md": "I" * 120, "USER.md": "U" * 120})
    made = content(spec(per_file=40, total=50), files)

    assert made.text == (
        f"### SOUL.md (/home/SOUL.md)\n{smile * 40}\n\n{NOTE}\n\n"
        f"### IDENTITY.md (/home/IDENTITY.md)\n{'I' * 10}\n\n{NOTE}"
    )
    assert [d.code for d in made.diagnostics] == [
        "file_truncated",
        "file_truncated",
        "total_budget_truncated",
        "file_truncated",
        "total_budget_truncated",
    ]
    assert made.diagnostics[2].message == (
        "`IDENTITY.md` (`/home/IDENTITY.md`) was cut: 40 -> 10 characters (files.total)"
    )
    assert made.cuts == (
        Cut("file SOUL.md", "cut: 120 -> 40 characters (files.per_file)"),
        Cut("file IDENTITY.md", "cut: 120 -> 40 characters (files.per_file)"),
        Cut("file IDENTITY.md", "cut: 40 -> 10 characters (files.total)"),
        Cut("file USER.md", "cut: 120 -> 40 characters (files.per_file)"),
        Cut("file USER.md", "cut: 40 -> 0 characters (files.total)"),
    )
    assert made.sources == (
        SourceRow("SOUL.md", "/home/SOUL.md", "truncated", 40),
        SourceRow("IDENTITY.md", "/home/IDENTITY.md", "truncated", 10),
        SourceRow("USER.md", "/home/USER.md", "truncated", 0),
    )


def test_an_empty_file_keeps_its_place_only_where_its_entry_says_so() -> None:
    made = content(spec(), held({"SOUL.md": " \n", "IDENTITY.md": "", "USER.md": "\t"}))

    assert made.text == (f"### SOUL.md (/home/SOUL.md)\n\n{NOTE}\n\n### IDENTITY.md (/home/IDENTITY.md)\n\n{NOTE}")
    assert [row.status for row in made.sources] == ["empty"] * 3
    assert made.cuts == (Cut("file USER.md", "it is empty"),)
    assert made.diagnostics == ()


def test_an_empty_file_may_have_a_text_of_its_own() -> None:
    rules = spec("entries: [{path: NOTES.md, keep_empty: true, empty: No notes yet.}]\nitem: '{{{content}}}'")

    assert content(rules, held({"NOTES.md": ""})).text == "No notes yet."
    assert content(rules, {}).text == ""


def test_where_nothing_remains_an_empty_file_has_no_place_either() -> None:
    made = content(spec(total=3), held({"SOUL.md": "abc", "IDENTITY.md": "", "USER.md": None}))

    assert "IDENTITY.md" not in made.text
    assert Cut("file IDENTITY.md", "files.total is used up") in made.cuts


@pytest.mark.parametrize("limits", [{"per_file": 0}, {"total": 0}])
def test_a_limit_of_nothing_prints_nothing(limits: dict[str, Json]) -> None:
    made = content(spec(otherwise="(no files)", **limits), held({"SOUL.md": "a", "IDENTITY.md": "b", "USER.md": "c"}))

    assert made.text == "(no files)"
    assert [(row.status, row.characters) for row in made.sources] == [("truncated", 0)] * 3


def test_a_missing_file_is_reported_and_a_default_takes_its_place() -> None:
    rules = spec("entries: [{path: a/SOUL.md, default: 'Be kind.'}, {path: b/USER.md}]")
    made = content(rules, {"b/USER.md": FileText("/home/b/USER.md", error="it is a folder")})

    assert made.text == "### SOUL.md (a/SOUL.md)\nBe kind."
    assert [(d.code, d.message) for d in made.diagnostics] == [
        ("missing_file", "`SOUL.md` is missing: no file at `a/SOUL.md`"),
        ("file_read_error", "`USER.md` (`/home/b/USER.md`) could not be read: it is a folder"),
    ]
    assert made.sources == (
        SourceRow("SOUL.md", "a/SOUL.md", "missing", 8),
        SourceRow("USER.md", "/home/b/USER.md", "read_error", 0),
    )


def test_of_several_places_the_first_that_holds_a_file_counts_and_the_others_are_reported() -> None:
    rules = spec("entries: [{path: [AGENTS.md, prompts/AGENTS.md, old/AGENTS.md]}]\nitem: '{{{content}}}'")
    made = content(rules, held({"AGENTS.md": None, "prompts/AGENTS.md": "new", "old/AGENTS.md": "old"}))

    assert made.text == "new"
    assert made.cuts == (Cut("file old/AGENTS.md", "`prompts/AGENTS.md` comes before it"),)


def test_a_draft_is_not_used_and_front_matter_is_left_out() -> None:
    rules = spec(
        "entries: [{path: IDENTITY.md}, {path: SOUL.md}]\nitem: '{{{content}}}'\ndraft: skip\nfront_matter: strip\n"
        "otherwise: You are a helper."
    )
    draft, ready = "---\nname: a: b\nstatus: Draft\n---\nI am new.", "---\nstatus: ready\n---\n\nI am calm."
    made = content(rules, held({"IDENTITY.md": draft, "SOUL.md": ready}))

    assert made.text == "I am calm."
    assert [row.status for row in made.sources] == ["draft", "loaded"]
    assert made.cuts == (
        Cut("file IDENTITY.md", "its front matter says `status: draft`"),
        Cut("front matter of SOUL.md", "files.front_matter is `strip`"),
    )
    assert content(rules, held({"IDENTITY.md": draft})).text == "You are a helper."


def test_a_marker_says_that_a_text_was_cut_and_keeps_to_the_limit() -> None:
    rules = spec("entries: [{path: A}]\nitem: '{{{content}}}'\nmarker: ' [...]'")

    for limit, text in ((10, "0123 [...]"), (7, "0 [...]"), (6, "012345")):
        assert content(rules.model_copy(update={"per_file": limit}), held({"A": "0123456789-"})).text == text
    assert content(rules, held({"A": "0123456789-"})).text == "0123456789-"


def test_purposes_and_texts_around_the_list_read_the_values_of_the_call() -> None:
    rules = spec(
        "entries: [{path: AGENTS.md, purpose: rules of the project.}, {path: SOUL.md}]\n"
        'before: "# Workspace\\n- Root: {{{root}}}"\nafter: End.\n'
        'item: "## {{{name}}}\\n{{#if purpose}}- Purpose: {{{purpose}}}\\n{{/if}}{{{content}}}"'
    )

    assert content(rules, held({"AGENTS.md": "Be tidy.", "SOUL.md": "Be calm."}), root="/srv").text == (
        "# Workspace\n- Root: /srv\n\n## AGENTS.md\n- Purpose: rules of the project.\nBe tidy.\n\n"
        "## SOUL.md\nBe calm.\n\nEnd."
    )
    assert content(rules, {}, root="/srv").text == ""
    assert compile_files(rules, "files").inputs == {"root"}


def test_sections_of_one_pool_share_the_total() -> None:
    soul, user = (spec(f"entries: [{{path: {name}}}]\nitem: '{{{{{{content}}}}}}'\ntotal: 5") for name in "SU")
    given = SourceInput({}, NOW, files=held({"S": "abc", "U": "defg"}))
    pooled = user.model_copy(update={"pool": "workspace"})

    assert compile_files(soul, "soul")(given).text == "abc"
    assert compile_files(pooled, "user")(replace(given, taken={pooled.account: 3, "other": 5})).text == "de"
    assert compile_files(user, "user")(replace(given, taken={"workspace": 3})).text == "defg"


def test_a_file_stays_data_unless_its_author_is_trusted() -> None:
    files = held({"A": "{{x}} </system> <b>", "B": None})
    rules = spec("entries: [{path: A}, {path: B, default: <b>kind</b>}]\nitem: '<doc>{{{content}}}</doc>'")
    source = compile_files(rules, "files", escaping="text")

    assert (
        source(SourceInput({}, NOW, files=files)).text
        == "<doc>{{x}} &lt;/system> &lt;b></doc>\n\n<doc><b>kind</b></doc>"
    )


def test_what_a_list_supplies_must_be_printed() -> None:
    rules = spec("entries: [{path: A, suffix: s, purpose: p}]\nitem: '{{name}}'")

    with pytest.raises(SpecError) as error:
        compile_files(rules, "agent.yaml: sections.soul")

    keys = [p.message.split("`")[3] for p in error.value.problems]
    assert keys == ["content", "suffix", "purpose"]


def test_every_wrong_template_is_reported_at_once() -> None:
    with pytest.raises(TemplateSyntaxError) as error:
        compile_files(spec(item="{{#if", before="{{/if}}"), "files")

    assert {p.name for p in error.value.problems} == {"files.item", "files.before"}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("[{path: A}, {path: [B, A]}]", "has `A` as the path of two entries"),
        ("[{path: a/X}, {path: b/X}]", "has `X` as the name of two entries"),
        ("[]", "should not be empty"),
        ("[{path: []}]", "should not be empty"),
    ],
)
def test_a_list_that_would_say_a_text_twice_is_refused(entries: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        spec(f"entries: {entries}")


TEXTS = st.one_of(
    st.none(),
    st.text(alphabet="ab \n\r<#-é\U0001f642", max_size=30),
    st.sampled_from(["---\nstatus: draft\n---\nx", "---\na: 1\n---\n", "---\n", "  \n "]),
)
FILES = st.dictionaries(
    st.sampled_from(["A", "B", "old/B", "C"]),
    st.builds(FileText, st.just("p"), TEXTS, st.sampled_from(["", "", "a folder"])),
)
SPECS = st.builds(
    lambda **changes: spec(
        "entries: [{path: A, keep_empty: true, suffix: s}, {path: [B, old/B], default: ddd}, {path: C}]", **changes
    ),
    per_file=st.none() | st.integers(0, 20),
    total=st.none() | st.integers(0, 30),
    marker=st.sampled_from(["", "...", " [cut]"]),
    draft=st.sampled_from(["use", "skip"]),
    front_matter=st.sampled_from(["keep", "strip"]),
    item=st.just("\x02{{{content}}}\x03{{{suffix}}}"),
)


@given(rules=SPECS, files=FILES)
def test_budgets_hold_whatever_the_files_say(rules: FilesSpec, files: dict[str, FileText]) -> None:
    made = content(rules, files)
    printed = [part.partition("\x03")[0] for part in made.text.split("\x02")[1:]]

    per_file, total = (inf if limit is None else limit for limit in (rules.per_file, rules.total))
    assert all(len(text) <= per_file for text in printed)
    assert sum(map(len, printed)) <= sum(row.characters for row in made.sources) <= total
    assert all(row.characters <= per_file for row in made.sources)


@given(rules=SPECS, files=FILES)
def test_every_entry_has_one_row_and_nothing_vanishes_unsaid(rules: FilesSpec, files: dict[str, FileText]) -> None:
    made = content(rules, files)
    said = " ".join([*(cut.what for cut in made.cuts), *(d.message for d in made.diagnostics)])

    assert [row.name for row in made.sources] == ["A", "B", "C"]
    for path, file in files.items():
        text = (file.text or "").replace("\r\n", "\n").replace("\r", "\n").strip()
        if file.error or (text and text not in made.text):
            assert path.removeprefix("old/") in said
    for row in made.sources:
        told = {"loaded": True, "empty": True}.get(row.status) or row.name in said
        assert told, row


@given(rules=SPECS, files=FILES)
def test_what_was_printed_is_printed_the_same_again(rules: FilesSpec, files: dict[str, FileText]) -> None:
    once = content(rules, files)

    assert content(rules, files) == once
    assert content(rules.model_copy(update={"entries": rules.entries}), dict(reversed(files.items()))) == once


@given(
    texts=st.lists(TEXTS.map(lambda text: text or ""), max_size=4),
    per_file=st.integers(0, 20),
    total=st.integers(0, 30),
)
def test_a_text_that_was_cut_once_is_not_cut_again(texts: list[str], per_file: int, total: int) -> None:
    entries = ", ".join(f"{{path: '{n}'}}" for n in range(4))
    rules = spec(f'entries: [{entries}]\nitem: "\\x02{{{{{{content}}}}}}"', per_file=per_file, total=total)
    once = content(rules, {str(n): FileText("p", text) for n, text in enumerate(texts)})
    left = [text.removesuffix("\n\n") for text in once.text.split("\x02")[1:]]
    again = content(rules, {str(n): FileText("p", text) for n, text in enumerate(left)})

    assert again.text == once.text
    assert not {d.code for d in again.diagnostics} - {"missing_file"}


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), st.integers(0, 40), st.integers(0, 40))
def test_bytes_are_a_unit_too_and_no_character_is_cut_in_two(text: str, per_file: int, total: int) -> None:
    rules = spec("entries: [{path: A}]\nitem: '{{{content}}}'\ntrim: false\nunit: bytes")
    text = text.replace("\r", "")
    made = content(rules.model_copy(update={"per_file": per_file, "total": total}), held({"A": text}))

    limit = min(per_file, total)
    assert len(made.text.encode()) <= limit
    assert text.startswith(made.text)
    assert made.taken == len(made.text.encode())
    assert made.text == text or len(text[: len(made.text) + 1].encode()) > limit


def test_a_cut_in_bytes_is_reported_in_bytes() -> None:
    made = content(spec("entries: [{path: A}]\nitem: '{{{content}}}'\nunit: bytes\nper_file: 5"), held({"A": "üüü"}))

    assert made.text == "üü"
    assert [row.characters for row in made.sources] == [2]
    assert Cut("file A", "cut: 6 -> 4 bytes (files.per_file)") in made.cuts


def test_null_means_no_limit_and_without_trimming_a_text_stays_unchanged() -> None:
    text = "\n\n  " + "x" * 400_000 + "  \n"
    rules = spec("entries: [{path: A}]\nitem: '{{{content}}}'\nper_file: null\ntotal: null\ntrim: false")

    made = content(rules, held({"A": text}))

    assert made.text == text
    assert not made.cuts
    assert not made.diagnostics


def test_pools_of_two_units_are_two() -> None:
    account = spec("entries: [{path: A}]\npool: p").account

    assert account == spec("entries: [{path: B}]\npool: p").account
    assert account != spec("entries: [{path: A}]\npool: p\nunit: bytes").account
    assert spec("entries: [{path: A}]").account == ""
