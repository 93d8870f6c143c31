"""`cuecard diff --format markdown`: what a pull request changes, over revisions of a real git repository."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import main
from cuecard.workbench.diff.markdown import MAX_CHARACTERS, CommentText, code, fenced
from unit.workbench.diff.test_command import git

Run: TypeAlias = Callable[..., tuple[int, str, str]]

AGENT = """\
agent: bakery
inputs:
  customer: {default: ""}
sections:
  - {id: identity, text: You answer the mail of a bakery.}
  - {id: customer, text: "You talk with {{{customer}}}."}
"""
MORE = AGENT + "  - {id: rules, text: Promise nothing.}\n"
MAIL = "main:agent.yaml"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command's exit code, stdout and stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["cuecard", "diff", *arguments, "--format", "markdown"])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err

    return call


@pytest.fixture
def bakery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent on `main`, and a working tree that adds a section to it."""
    git(tmp_path, "init", "--quiet", "--initial-branch=main", ".")
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    turns = tmp_path / "turns"
    turns.mkdir()
    (turns / "jana.yaml").write_text("inputs: {customer: Jana}\n", encoding="utf-8")
    two = "turns:\n  - inputs: {customer: Jana}\n  - inputs: {customer: Max}\n"
    (turns / "two.yaml").write_text(two, encoding="utf-8")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "An agent")
    (tmp_path / "agent.yaml").write_text(MORE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_turn_is_a_row_and_each_change_is_reported_once(bakery: Path, run: Run) -> None:
    exit_code, out, err = run(MAIL, ".", "--turn", "turns")

    assert (exit_code, err) == (0, "")
    assert out.startswith("**The prompt changes in 3 of 3 turns: +3 tokens.**")
    assert "| <code>turns/jana.yaml</code> | 13 | 16 | +3 |" in out
    assert "| <code>turns/two.yaml turn 2</code> |" in out
    assert out.count("+Promise nothing.") == 1
    assert "| <code>rules</code> | added | 0 | 3 | +3 | <code>file edit agent.yaml&#58;7</code> | 3 of 3 |" in out


def test_prices_are_in_tokens_or_in_dollars(bakery: Path, run: Run) -> None:
    _, tokens, _ = run(MAIL, ".", "--turn", "turns/jana.yaml", "--model", "gpt-4o")
    _, money, _ = run(MAIL, ".", "--turn", "turns/jana.yaml", "--model", "gpt-4o", "--price", "2.5")

    assert "| 13,000 → 16,000 | 13,000 → 16,000 |" in tokens
    assert "| $0.03 → $0.04 | $0.03 → $0.04 |" in money
    assert "at $2.50 for a million input tokens" in money


def test_dollars_are_for_tokens_of_the_model(bakery: Path, run: Run) -> None:
    """The newer tokenizer of Anthropic makes 1.625 as many: 16 tokens are 26, and 1,000 requests 26,000."""
    _, money, _ = run(MAIL, ".", "--turn", "turns/jana.yaml", "--model", "claude-opus-4-8", "--price", "1000")

    assert "→ $26.00 |" in money


def test_the_same_prompt_is_reported_in_one_line(bakery: Path, run: Run) -> None:
    (bakery / "agent.yaml").write_text(AGENT, encoding="utf-8")
    exit_code, out, _ = run(MAIL, ".", "--turn", "turns", "--exit-code")

    assert exit_code == 0
    assert out.splitlines()[0] == "**The prompt is the same in all 3 turns.**"
    assert "|" not in out


def test_an_agent_without_turns_is_compared_unchanged(bakery: Path, run: Run) -> None:
    exit_code, out, _ = run(MAIL, ".", "--exit-code")

    assert exit_code == 1
    assert "| <code>no turn file</code> |" in out
    assert "+Promise nothing." in out


def test_an_agent_that_is_not_there_yet_is_new(bakery: Path, run: Run) -> None:
    (bakery / "baker.yaml").write_text(MORE, encoding="utf-8")
    exit_code, out, err = run("main:baker.yaml", "baker.yaml", "--turn", "turns")

    assert (exit_code, err) == (0, "")
    assert out.startswith("**The prompt is new in 3 of 3 turns.**")
    assert (
        "| - | 16 | new: missing-file, <code>revision &#96;main&#96; has no file &#96;baker.yaml&#96;</code> |" in out
    )


def test_an_input_that_is_new_is_reported_at_its_turn(bakery: Path, run: Run) -> None:
    agent = MORE.replace("inputs:\n", "inputs:\n  town: {default: Ghent}\n")
    (bakery / "agent.yaml").write_text(agent, encoding="utf-8")
    (bakery / "turns" / "jana.yaml").write_text("inputs: {town: Bruges}\n", encoding="utf-8")
    exit_code, out, _ = run(MAIL, ".", "--turn", "turns")

    assert exit_code == 0
    assert "new: unknown-input" in out
    assert "| 2 of 3 |" in out


def test_a_turn_that_cannot_be_rendered_any_more_fails(bakery: Path, run: Run) -> None:
    agent = MORE.replace("{{{customer}}}", "{{{guest}}}").replace("  customer:", "  guest:")
    (bakery / "agent.yaml").write_text(agent, encoding="utf-8")
    exit_code, out, _ = run(MAIL, ".", "--turn", "turns")

    assert exit_code == 2
    assert out.startswith("**2 of 2 prompts cannot be rendered.**")
    assert "cannot be rendered: unknown-input" in out


def test_an_edition_that_was_broken_is_reported(bakery: Path, run: Run) -> None:
    (bakery / "agent.yaml").write_text(AGENT + "delivry: append\n", encoding="utf-8")
    git(bakery, "commit", "--quiet", "--all", "--message", "A slip")
    (bakery / "agent.yaml").write_text(MORE, encoding="utf-8")
    exit_code, out, _ = run(MAIL, ".", "--turn", "turns")

    assert exit_code == 0
    assert "new: unknown-key, <code>unknown key &#96;delivry&#96;</code>" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing:agent.yaml", "."), "there is no revision `nothing`"),
        (("nothing.yaml", "."), "no such file"),
        ((MAIL, "."), "no such file or folder"),
    ],
)
def test_what_names_nothing_is_wrong_usage(bakery: Path, run: Run, arguments: tuple[str, ...], message: str) -> None:
    exit_code, out, err = run(*arguments, "--turn", "turn" if arguments[0] == MAIL else "turns")

    assert (exit_code, out) == (2, "")
    assert message in err


def test_options_that_do_not_fit_are_reported_together(
    bakery: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    two = ["--turn", "a", "--turn", "b"]
    monkeypatch.setattr("sys.argv", ["cuecard", "diff", "a.json", "b.json", *two, "--discovered", "x", "--price", "3"])
    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "the turn files themselves say which tools are discovered" in told
    assert "a price requires Markdown" in told


def test_hostile_texts_stay_in_their_fences(bakery: Path, run: Run) -> None:
    evil = "</details>\n````\n# Approved by @everyone\n![x](https://example.org/x.png)\n"
    (bakery / "agent.yaml").write_text(AGENT + "  - {id: rules, file: rules.md}\n", encoding="utf-8")
    (bakery / "rules.md").write_text(evil, encoding="utf-8")
    (bakery / "turns" / "jana.yaml").rename(bakery / "turns" / "@everyone | `<img src=x>` [a](b).yaml")
    _, out, _ = run(MAIL, ".", "--turn", "turns")
    outside = re.sub(r"^(`{3,})diff\n.*?^\1$", "", out, flags=re.MULTILINE | re.DOTALL)

    assert "+# Approved by @everyone" in out
    assert not re.search(r"@|<img|\[a\]|Approved|https", outside)
    assert outside.count("</details>") == outside.count("<details>")


@pytest.mark.repeats
def test_it_is_never_too_long(bakery: Path, run: Run) -> None:
    only = "when: {equals: {customer: Guest 0}}"  # one turn with many sections is enough
    sections = "".join(f"  - {{id: part-{n}, {only}, text: {'word ' * (n % 7 * 35 + 1)}}}\n" for n in range(200))
    (bakery / "agent.yaml").write_text(MORE + sections, encoding="utf-8")
    for n in range(60):
        name = f"{n}-{'`|' * 40}.yaml"
        (bakery / "turns" / name).write_text(f"inputs: {{customer: Guest {n}}}\n", encoding="utf-8")
    exit_code, out, _ = run(MAIL, ".", "--turn", "turns", "--model", "gpt-4o")

    assert exit_code == 0
    assert len(out) <= MAX_CHARACTERS
    assert re.search(r"^\d+ more turns are omitted\.$", out, re.MULTILINE)
    assert re.search(r"^\d+ more sections are omitted\.$", out, re.MULTILINE)
    assert out.count("<details>") == out.count("</details>")


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]))))
def test_no_line_ends_its_fence(texts: list[str]) -> None:
    block = fenced([f"+{text}" for text in texts], "diff").split("\n")
    fence = block[0].removesuffix("diff")

    assert [line for line in block[1:-2] if line.lstrip("+").strip() == fence] == []
    assert block[-2:] == [fence, ""]


@given(st.text())
def test_inline_code_holds_nothing_that_markdown_or_html_would_read(text: str) -> None:
    shown = code(text).removeprefix("<code>").removesuffix("</code>")

    plain = re.sub(r"(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])", "", re.sub(r"&#\d+;", ";", shown))

    assert plain.translate(dict.fromkeys(map(ord, "<>&`|@*_[]()\\\n!#:"))) == plain


@given(st.integers(0, 50), st.lists(st.text(max_size=20)))
def test_a_body_never_holds_more_than_it_may(most: int, texts: list[str]) -> None:
    body = CommentText(most)
    taken = "".join(text for text in texts if body.take(text))

    assert body.text == taken
    assert len(taken) <= most
