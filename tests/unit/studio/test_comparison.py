"""Any two prompts are compared by section, line and word; what cannot be compared says why."""

import subprocess
from pathlib import Path

from cuecard import Engine, Turn
from cuecard.studio.comparison import MAX_DIFF_LINES, compare, differences
from cuecard.studio.timeline_view import TimelineView, timeline_view
from cuecard.workbench.diff.sides import Side
from unit.studio.timelines import RECORDING, asking, at, named, recorded

AGENT = """\
agent: shop
inputs: {name: {type: string, default: Ada}}
tools: {search: {tool: tool_search}}
sections:
  - {id: role, text: "You help in a shop."}
  - {id: user, text: "The user is {{name}}."}
"""
TALK = '{"turns": [{"user": "hello", "requests": [{"text": "hi"}]}, {"user": "more", "requests": [{"text": "yes"}]}]}'


def side(engine: Engine, **inputs: str) -> Side:
    return Side.of("step", engine.prepare_step(engine.prepare_call(Turn(inputs))))


def shop(tmp_path: Path, text: str = AGENT) -> Path:
    (tmp_path / "agent.yaml").write_text(text)
    return tmp_path


def test_two_prompts_are_compared_by_section_line_and_word(tmp_path: Path) -> None:
    engine = Engine.open(shop(tmp_path))
    found = compare(side(engine), side(engine, name="Grace"))
    (changed,) = found.changed
    assert (changed.id, changed.kind, changed.why) == ("user", "changed", "input name")
    assert found.same == ("role",)
    assert found.after - found.before == changed.after - changed.before
    assert changed.lines
    gone, come = [line for line in changed.lines if line.sign]
    assert (gone.sign, gone.text, come.sign, come.text) == ("-", "The user is Ada.", "+", "The user is Grace.")
    assert [[word for word, differs in line.words if differs] for line in (gone, come)] == [["Ada"], ["Grace"]]


def test_prompts_of_different_salts_cannot_be_compared(tmp_path: Path) -> None:
    plain = side(Engine.open(shop(tmp_path)))
    found = compare(plain, side(Engine.open(tmp_path, salt="pepper")))
    assert "different salts" in found.problem
    assert not found.changed


def test_lines_have_their_numbers_and_context() -> None:
    old = "\n".join(f"line {number}" for number in range(1, 21))
    new = old.replace("line 10\n", "line ten\nand more\n")
    found = differences(old, new)
    assert [(line.old, line.new, line.sign) for line in found] == [
        *((number, number, "") for number in (7, 8, 9)),
        (10, None, "-"),
        (None, 10, "+"),
        (None, 11, "+"),
        *((number, number + 1, "") for number in (11, 12, 13)),
    ]


def test_lines_that_are_not_alike_have_no_words_marked() -> None:
    gone, come = differences("The quick brown fox", "42")
    assert not any(differs for line in (gone, come) for _, differs in line.words)


def test_characters_that_nobody_sees_are_shown() -> None:
    (_, come) = differences("a\n", "a\u202eb\n")
    assert "\u202e" not in come.text


def test_of_a_very_long_difference_the_beginning_is_shown(tmp_path: Path) -> None:
    long = "".join(f"      line {number}\n" for number in range(2 * MAX_DIFF_LINES))
    one = Engine.open(shop(tmp_path))
    two = Engine.open(shop(tmp_path, f"{AGENT}  - id: rules\n    text: |\n{long}"))
    (changed,) = compare(side(one), side(two)).changed
    assert changed.lines
    assert len(changed.lines) == MAX_DIFF_LINES
    assert changed.more >= MAX_DIFF_LINES


def test_a_step_is_compared_with_itself_under_another_delivery(tmp_path: Path) -> None:
    with asking(tmp_path, RECORDING) as studio:
        asked = at(studio, "blog-post · rewrite", "2.1", a="delivery:append")
        assert asked.run
        found = timeline_view(asked, asked.run)
    assert found.against
    assert found.against.label == "2.1 under append"
    assert [(name, round(cost)) for name, _, _, cost in found.pair] == [("A", 642), ("B", 2406)]
    assert not found.split
    assert found.compared
    assert found.compared.changed


def test_a_step_is_compared_with_another_step_and_another_run(tmp_path: Path) -> None:
    with asking(tmp_path, RECORDING) as studio:
        asked = at(studio, "blog-post · append", "2.3", a="1.1")
        assert asked.run
        assert _label(timeline_view(asked, asked.run)) == "1.1"
        other = named(studio, "blog-post · frozen")
        asked = at(studio, "blog-post · append", "2.3", a=f"run:{other}")
        assert asked.run
        assert _label(timeline_view(asked, asked.run)) == "2.3 of blog-post · frozen"
        asked = at(studio, "blog-post · append", "2.3", a="run:0000")
        assert asked.run
        assert (
            _problem(timeline_view(asked, asked.run)) == "there is no such conversation, or this agent cannot play it"
        )


def _label(view: TimelineView) -> str:
    assert view.against
    assert not view.against.problem
    assert view.compared
    return view.against.label


def _problem(view: TimelineView) -> str:
    assert view.against
    assert view.compared is None
    return view.against.problem


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


def test_a_step_is_compared_with_a_git_revision_of_the_agent(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / "shop").mkdir(parents=True)
    shop(repository / "shop")
    (tmp_path / "talk.json").write_text(TALK)
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "first")
    shop(repository / "shop", AGENT.replace("You help in a shop.", "You help in a big shop."))
    with asking(tmp_path, tmp_path / "talk.json", agent=repository / "shop") as studio:
        asked = at(studio, "talk · append", "2.1", a="HEAD")
        assert asked.run
        found = timeline_view(asked, asked.run)
        assert _label(found) == "2.1 at HEAD"
        assert found.compared
        (changed,) = found.compared.changed
        assert changed.lines
        assert [line.text for line in changed.lines] == ["You help in a shop.", "You help in a big shop."]
        asked = at(studio, "talk · append", "2.1", a="rev:v9")
        assert asked.run
        assert _problem(timeline_view(asked, asked.run)) == "there is no revision `v9`"


def test_records_cannot_be_played_again_and_say_so(tmp_path: Path) -> None:
    recorded(tmp_path / "r.jsonl")
    with asking(tmp_path, tmp_path / "r.jsonl") as studio:
        for a in ("delivery:rewrite", "HEAD"):
            asked = at(studio, "c-1 · append", "1.3", a=a)
            assert asked.run
            told = _problem(timeline_view(asked, asked.run))
            assert told == "records hold manifests and no messages, so they cannot be played again"


def test_without_texts_sections_tokens_fingerprints_and_reasons_are_compared(tmp_path: Path) -> None:
    recorded(tmp_path / "r.jsonl")
    with asking(tmp_path, tmp_path / "r.jsonl") as studio:
        asked = at(studio, "c-1 · append", "1.3")
        assert asked.run
        found = timeline_view(asked, asked.run).compared
        assert found
        assert not found.texts
        (changed,) = found.changed
        assert (changed.kind, changed.lines, changed.why) == (
            "added",
            None,
            "discovery cms_createPage, cms_createPageWithContent",
        )
        assert len(changed.hashes[1]) == 8
