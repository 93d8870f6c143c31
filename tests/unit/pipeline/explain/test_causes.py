"""Why a section changed, and where the shared start of two prompts ends: one sentence for each cause."""

from __future__ import annotations

from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path

import pytest

from cuecard import Engine, FileText, InputError, Manifest, Turn
from cuecard import compare_manifests as compare
from cuecard.types import Comparison, SectionRecord
from unit.pipeline.explain.tiny import AGENT, CORE, HOME, NEXT_DAY, NOON, found, manifest, step, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "agent")


@pytest.fixture
def engine(folder: Path) -> Engine:
    return Engine.open(folder, delivery="append")


@pytest.fixture
def rewriting(folder: Path) -> Engine:
    return Engine.open(folder, delivery="rewrite")


def changed(comparison: Comparison) -> dict[str, str]:
    """Each section that is not the same: what became of it, and why."""
    return {
        change.id: f"{change.kind}: {'; '.join(map(str, change.causes))}"
        for change in comparison.changes
        if change.kind != "same"
    }


def at(comparison: Comparison) -> str:
    """Where the shared start ends, and why."""
    broken = comparison.first_break
    return f"{broken.id}: {broken.cause}" if broken else ""


def test_the_same_prompt_has_no_change_and_no_break(engine: Engine) -> None:
    whole = step(engine).manifest
    comparison = compare(whole, step(engine).manifest)

    assert (changed(comparison), comparison.differs) == ({}, False)
    assert replace(comparison, changes=()) == Comparison((), None, whole.total_tokens, whole.total_tokens)
    assert [change.id for change in comparison.changes] == [
        *("agent", "rules", "identity", "working-memory", "date", "instructions", "/agent"),
    ]


def test_a_text_of_one_turn_is_the_same_wherever_its_section_is_written(tmp_path: Path) -> None:
    folder, rule = tmp_path / "passing", "- {id: event, text: '{{{event}}}', before: rules}\n"
    said = AGENT.replace("inputs:\n", "inputs:\n  event: {lifetime: turn}\n") + "sections:\n" + rule

    before = step(Engine.open(write(folder, agent=said)), inputs={"event": "a"}).manifest
    moved = Engine.open(write(folder, agent=f"# one line more\n{said}"))
    same, other = (compare(before, step(moved, inputs={"event": text}).manifest) for text in "ab")

    assert (changed(same), at(same), same.differs) == ({}, "", False)
    assert (changed(other), at(other)) == ({"event": "changed: input event"}, "event: input event")


def test_an_input_that_differs_is_named_where_it_is_read(engine: Engine) -> None:
    comparison = compare(step(engine).manifest, step(engine, inputs={"user": "Kim", "site": "none"}).manifest)

    assert changed(comparison) == {"identity": "changed: input user"}
    assert at(comparison) == "identity: input user"


def test_every_input_that_differs_is_named(engine: Engine) -> None:
    comparison = compare(step(engine).manifest, step(engine, inputs={"user": "Kim", "site": "x"}).manifest)

    assert changed(comparison) == {"identity": "changed: input site, user"}


def test_a_discovery_is_no_cause_of_what_reads_no_instructions(rewriting: Engine) -> None:
    comparison = compare(step(rewriting).manifest, step(rewriting, ("list_pages",), inputs={"user": "Kim"}).manifest)

    assert changed(comparison) == {
        "identity": "changed: input user",
        "instructions": "changed: discovery list_pages",
    }


def test_the_working_memory_is_a_cause_of_its_own(engine: Engine) -> None:
    comparison = compare(step(engine).manifest, step(engine, memory=HOME).manifest)

    assert changed(comparison) == {"working-memory": "changed: memory"}


def test_another_day_is_the_clock(engine: Engine) -> None:
    comparison = compare(step(engine).manifest, step(engine, now=NEXT_DAY).manifest)

    assert changed(comparison) == {"date": "changed: clock"}
    assert at(comparison) == "date: clock"
    assert asdict(comparison)["first_break"]["causes"] == ({"kind": "clock", "names": (), "source": ""},)


def test_an_edited_file_is_named_with_its_place(folder: Path) -> None:
    before = manifest(folder)
    after = manifest(write(folder, core=CORE.replace("Be brief.", "Be very brief.")))

    assert changed(compare(before, after)) == {"rules": "changed: file edit agent.xml:2"}
    assert at(compare(before, after)) == "rules: file edit agent.xml:2"


def test_an_edited_instruction_is_named_with_its_tool_and_place(folder: Path) -> None:
    before = manifest(folder, ("list_pages",))
    after = manifest(write(folder, after="Show less"), ("list_pages",))

    why = changed(compare(before, after))

    assert why["instructions"] == "changed: file edit tool_search tools.yaml:3"
    assert [text for name, text in why.items() if name.startswith("instructions-")] == [
        "changed: file edit list_pages tools.yaml:4"
    ]


def test_a_section_that_an_edit_adds_or_takes_away_is_an_edit(folder: Path) -> None:
    before = manifest(folder)
    after = manifest(write(folder, core=CORE.replace("<date>", "<tone>Kind</tone>\n<date>")))

    assert changed(compare(before, after)) == {"tone": "added: file edit agent.xml:11"}
    assert changed(compare(after, before)) == {"tone": "removed: file edit agent.xml:11"}
    assert (at(compare(before, after)), at(compare(after, before))) == ("tone: file edit agent.xml:11",) * 2


def test_a_new_core_tool_is_an_edit_and_no_discovery(folder: Path) -> None:
    before = manifest(folder, delivery="rewrite")
    write(folder, agent=AGENT.replace("[tool_search]", "[tool_search, drop_page]"))
    after, found = manifest(folder, delivery="rewrite"), manifest(folder, ("make_page",), delivery="rewrite")
    edit = "file edit drop_page tools.yaml:6"

    assert changed(compare(before, after)) == {"instructions": f"changed: {edit}"}
    assert changed(compare(before, found)) == {"instructions": f"changed: discovery make_page; {edit}"}


def test_sections_in_another_order_are_moved(folder: Path) -> None:
    rules = "<rules>\nBe brief.\n</rules>\n"
    before = manifest(folder)
    after = manifest(write(folder, core=CORE.replace(rules, "").replace("</agent>", f"{rules}</agent>")))

    comparison = compare(before, after)

    assert changed(comparison) == {"rules": "moved: order"}
    assert at(comparison) == "rules: order"


def test_tools_in_another_order_are_an_order(rewriting: Engine) -> None:
    one, other = (("list_pages",), ("make_page",)), (("make_page",), ("list_pages",))
    comparison = compare(step(rewriting, *one).manifest, step(rewriting, *other).manifest)

    assert changed(comparison) == {"instructions": "changed: order tool_search, list_pages, make_page"}


def test_a_block_after_another_result_is_an_order(engine: Engine) -> None:
    withdrawn = step(engine, ("make_page",), ("list_pages",), tools=("tool_search", "list_pages", "drop_page")).manifest
    comparison = compare(step(engine, ("list_pages",)).manifest, withdrawn)

    assert [change.kind for change in comparison.changes if change.causes] == ["removed", "added"]
    assert {str(change.cause) for change in comparison.changes if change.causes} == {"order list_pages"}
    assert comparison.first_break is not None


def test_a_discovery_under_rewrite_breaks_the_start_and_names_the_tools(rewriting: Engine) -> None:
    after = step(rewriting, ("list_pages", "make_page"))
    comparison = compare(step(rewriting).manifest, after.manifest)

    assert changed(comparison) == {"instructions": "changed: discovery list_pages, make_page"}
    assert comparison.first_break is not None
    assert comparison.first_break.tokens == sum(segment.tokens for segment in after.segments[-2:])


def test_a_discovery_under_append_is_added_and_breaks_nothing(engine: Engine) -> None:
    comparison = compare(step(engine, ("list_pages",)).manifest, step(engine, ("list_pages",), ("make_page",)).manifest)

    assert [*changed(comparison).values()] == ["added: discovery make_page"]
    assert comparison.first_break is None

    call, nameless = engine.prepare_call(Turn(now=NOON)), replace(found(("make_page",))[0], call_id=None)
    comparison = compare(step(engine).manifest, engine.prepare_step(call, [nameless]).manifest)
    assert [*changed(comparison).values()] == ["added: discovery make_page"]


def test_a_tool_that_exists_no_longer_is_a_discovery_taken_back(engine: Engine) -> None:
    comparison = compare(
        step(engine, ("list_pages",), ("make_page",)).manifest,
        step(engine, ("list_pages",), ("make_page",), tools=("tool_search", "list_pages", "drop_page")).manifest,
    )

    assert [*changed(comparison).values()] == ["removed: discovery make_page"]
    assert comparison.first_break is not None
    assert comparison.first_break.tokens == 0


def test_another_delivery_is_the_cause_where_nothing_else_is(engine: Engine, rewriting: Engine) -> None:
    searches = (("list_pages",),)
    comparison = compare(step(engine, *searches).manifest, step(rewriting, *searches).manifest)

    assert {*changed(comparison).values()} == {
        "changed: delivery append -> rewrite",
        "removed: delivery append -> rewrite",
    }
    assert at(comparison) == "instructions: delivery append -> rewrite"


def test_another_delivery_is_the_cause_of_tools_that_only_it_shows(folder: Path) -> None:
    before = manifest(folder)
    told = {"instructions": "changed: delivery append -> frozen"}
    assert changed(compare(before, manifest(folder, delivery="frozen"))) == told

    edited = write(folder, after="Show less", core=CORE.replace("Be brief.", "Be very brief."))
    after = manifest(edited, delivery="frozen")
    assert changed(compare(before, after)) == {"rules": "changed: file edit agent.xml:2", **told}


def test_what_compaction_took_into_the_system_prompt_is_a_compaction(engine: Engine) -> None:
    comparison = compare(step(engine, ("list_pages",)).manifest, step(engine, discovered=("list_pages",)).manifest)

    assert {*changed(comparison).values()} == {"changed: compaction", "removed: compaction"}
    assert at(comparison) == "instructions: compaction"


def test_a_fresh_call_after_updates_is_a_compaction(engine: Engine) -> None:
    first = engine.prepare_call(Turn(now=NOON))
    updated, fresh = step(engine, memory=HOME, previous=first).manifest, step(engine, memory=HOME).manifest

    why = changed(compare(updated, fresh))

    assert {*why.values()} == {"changed: compaction", "removed: compaction"}
    assert at(compare(updated, fresh)) == "working-memory: compaction"


def test_what_changed_between_two_calls_is_the_cause_of_the_update(engine: Engine) -> None:
    first = engine.prepare_call(Turn(now=NOON))
    comparison = compare(
        engine.prepare_step(first).manifest, step(engine, memory=HOME, now=NEXT_DAY, previous=first).manifest
    )

    assert [*changed(comparison).values()] == ["added: memory; clock"]
    assert comparison.first_break is None


def test_an_update_that_withdraws_a_tool_names_it(engine: Engine) -> None:
    history = found(("list_pages",))
    first = engine.prepare_call(Turn(now=NOON))
    before = engine.prepare_step(first, history).manifest
    after = step(engine, ("list_pages",), tools=("tool_search", "make_page"), previous=first).manifest

    assert [*changed(compare(before, after)).values()] == ["added: discovery list_pages"]


def test_a_value_that_changed_and_changed_back_is_an_input_or_an_edit_without_a_place(folder: Path) -> None:
    def back(engine: Engine) -> Manifest:
        first = engine.prepare_call(Turn(now=NOON))
        return step(engine, previous=engine.prepare_call(Turn(now=NOON, memory=HOME), previous=first)).manifest

    before, after = manifest(folder), back(Engine.open(folder, delivery="append"))
    assert [*changed(compare(before, after)).values()] == ["added: input", "added: input"]

    edited = write(folder, core=CORE.replace("Be brief.", "Be very brief."))
    after = back(Engine.open(edited, delivery="append"))
    told = ["changed: file edit agent.xml:2", "added: file edit", "added: file edit"]
    assert [*changed(compare(before, after)).values()] == told


def test_where_a_value_and_a_file_differ_the_value_is_named(folder: Path) -> None:
    before = Engine.open(folder)
    after = Engine.open(write(folder, core=CORE.replace("You help", "Please help")))
    comparison = compare(step(before).manifest, step(after, inputs={"user": "Kim"}).manifest)

    assert changed(comparison) == {"identity": "changed: input user"}


LISTED = """\
agent: listed
sections:
  - {id: rules, text: Be brief.}
  - {id: notes, files: {supplied: true, entries: [{path: notes.md}]}}
  - {id: tone, when: formal, text: Be formal.}
  - {id: now, clock: {precision: minute}}
profiles:
  short: {exclude: [rules]}
inputs:
  formal: {type: boolean, default: false}
"""


@pytest.fixture
def listed(tmp_path: Path) -> Engine:
    (tmp_path / "agent.yaml").write_text(LISTED, encoding="utf-8")
    return Engine.open(tmp_path)


def why(engine: Engine, before: Turn, after: Turn) -> dict[str, str]:
    one, other = (engine.prepare_step(engine.prepare_call(turn)).manifest for turn in (before, after))
    return changed(compare(one, other))


def test_a_clock_that_shows_the_time_is_the_clock_within_a_day_too(listed: Engine) -> None:
    found = why(listed, Turn(now=NOON), Turn(now=NOON.replace(minute=1)))

    assert found == {"now": "changed: clock"}


def test_a_file_that_the_host_supplies_is_an_input(listed: Engine) -> None:
    notes = {"notes.md": FileText("notes.md", "Remember")}, {"notes.md": FileText("notes.md", "Forget")}
    found = why(listed, Turn(now=NOON, files=notes[0]), Turn(now=NOON, files=notes[1]))

    assert found == {"notes": "changed: input content:notes"}


def test_a_condition_that_holds_now_names_its_input(listed: Engine) -> None:
    found = why(listed, Turn(now=NOON), Turn(now=NOON, inputs={"formal": True}))

    assert found["tone"] == "added: input formal"
    assert why(listed, Turn(now=NOON, inputs={"formal": True}), Turn(now=NOON))["tone"] == "removed: input formal"


def test_another_profile_is_an_input(listed: Engine) -> None:
    found = why(listed, Turn(now=NOON), Turn(now=NOON, profile="short"))

    assert found["rules"] == "removed: input profile"
    assert found["now"] == "changed: input profile"  # the separator before it is gone


def test_another_summary_is_a_compaction(folder: Path) -> None:
    engine = Engine.open(write(folder, core=CORE.replace("Be brief.", "{{{conversationSummary}}}")))

    assert why(engine, Turn(now=NOON), Turn(now=NOON, summary="So far")) == {"rules": "changed: compaction"}


def test_a_compacted_conversation_says_so_whatever_else_differs(engine: Engine) -> None:
    history = found(("list_pages",))
    first = engine.prepare_call(Turn(now=NOON))
    before = engine.prepare_step(first, history).manifest
    second = engine.prepare_call(Turn(now=NOON, memory=HOME), history, previous=first, compacted=True)
    after = engine.prepare_step(second, ()).manifest
    later = engine.prepare_step(second, [*history, *found((), ("make_page",))[1:]]).manifest
    came = {record.id: "added: discovery make_page" for record in later.sections if record.placement == "appended"}

    assert changed(compare(before, later)) == changed(compare(before, after)) | came
    assert changed(compare(before, after)) == {
        "working-memory": "changed: compaction; memory",
        "instructions": "changed: compaction",
        **{record.id: "removed: compaction" for record in before.sections if record.placement == "appended"},
    }

    turn = Turn(now=NOON, tools=("tool_search", "make_page"))
    without = engine.prepare_step(engine.prepare_call(turn, history, previous=first, compacted=True))
    assert [*changed(compare(before, without.manifest)).values()] == ["removed: compaction; discovery list_pages"]


def test_the_break_costs_everything_after_it(engine: Engine) -> None:
    after = step(engine, ("list_pages",), inputs={"user": "Kim"})
    broken = compare(step(engine).manifest, after.manifest).first_break

    assert broken is not None
    assert broken.tokens == after.manifest.total_tokens - sum(segment.tokens for segment in after.segments[:2])


def test_a_system_prompt_that_grows_at_its_end_breaks_before_what_follows_it(engine: Engine) -> None:
    before = step(engine, ("list_pages",)).manifest
    more = SectionRecord("more", "call", "system", "agent.xml:18", "values of this call", 5, "ab" * 32)
    after = replace(before, sections=(*before.sections[:-1], more, before.sections[-1]))
    broken = compare(before, after).first_break

    assert broken is not None
    assert (broken.id, broken.tokens) == ("more", 5 + before.tokens.appended)


def test_a_section_without_text_breaks_nothing(engine: Engine) -> None:
    before = step(engine).manifest
    silent = SectionRecord("silent", "call", "system", "agent.xml:9", "values of this call", 0, sha256(b"").hexdigest())
    after = replace(before, sections=(*before.sections[:3], silent, *before.sections[3:]))

    assert changed(compare(before, after)) == {"silent": "added: input"}
    assert compare(before, after).first_break is None


def test_different_salts_cannot_be_compared(engine: Engine) -> None:
    salted = replace(engine, salt="pepper")

    with pytest.raises(InputError, match="different salts"):
        compare(step(engine).manifest, step(salted).manifest)

    assert compare(step(salted).manifest, step(salted, inputs={"user": "Kim"}).manifest).first_break is not None


def test_a_manifest_of_an_older_version_still_compares(engine: Engine) -> None:
    def older(manifest: Manifest) -> Manifest:
        sections = tuple(replace(section, reads=()) for section in manifest.sections)
        return replace(manifest, inputs={}, sections=sections)

    comparison = compare(older(step(engine).manifest), older(step(engine, inputs={"user": "Kim"}).manifest))

    assert comparison.first_break is not None
    assert comparison.first_break.id == "identity"


def test_a_discovery_behind_a_text_of_the_turn_breaks_nothing_until_the_turn_ends(engine: Engine) -> None:
    chat = engine.conversation()
    chat.user(Turn(now=NOON, ephemeral="Be quick."))
    first, second = chat.step().manifest, chat.step(found(("list_pages",))).manifest
    chat.user(Turn(now=NOON))

    assert at(compare(first, second)) == ""
    assert at(compare(second, chat.step().manifest)).startswith("ephemeral: ")
