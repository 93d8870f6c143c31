"""`cuecard bench search`: what it measures of small catalogues can be worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import main
from cuecard import ToolCard
from cuecard.config.tools_spec import SearchSpec
from cuecard.workbench.bench.baselines import BASELINES, installed
from cuecard.workbench.bench.measure import JudgedQuery, RankerFigures, find_misses, measure

CARDS = [ToolCard(f"tool_{n}", text) for n, text in enumerate(["send a mail", "read a mail", "list files", "draw"])]


def measured(
    answers: dict[str, list[tuple[str, float]]], queries: dict[str, set[str]], spec: SearchSpec
) -> RankerFigures:
    asked = [JudgedQuery(query, frozenset(tools), n) for n, (query, tools) in enumerate(queries.items(), 1)]
    return measure("fixed", lambda _cards: lambda query, limit: answers[query][:limit], CARDS, asked, spec)


def test_recall_is_the_mean_share_of_the_right_tools_whatever_is_cut() -> None:
    answers = {
        "both": [("tool_0", 0.8), ("tool_2", 0.7), ("tool_1", 0.3)],
        "one": [("tool_3", 0.5), ("tool_2", 0.2)],
        "none": [],
        "unsure": [("tool_1", 0.1)],
    }
    right = {"both": {"tool_0", "tool_1"}, "one": {"tool_2"}, "none": {"tool_0"}, "unsure": {"tool_1"}}
    found = measured(answers, right, SearchSpec())

    assert found.recall == {1: 0.5 / 4, 3: 2 / 4, 5: 2 / 4, 8: 2 / 4, 10: 2 / 4}
    assert found.returned == (2 + 1 + 0 + 0) / 4
    assert found.recall_returned == 0.5 / 4
    assert found.empty == 2 / 4


def test_a_name_that_several_servers_have_means_any_of_them() -> None:
    cards = [ToolCard("x__search"), ToolCard("y__search"), ToolCard("research")]
    found = measure(
        "fixed",
        lambda _: lambda *_: [("y__search", 1.0)],
        cards,
        [JudgedQuery("a", frozenset({"search"}), 1)],
        SearchSpec(),
    )

    assert found.recall[1] == 1


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_rank_a_plain_match_first_and_survive_any_query(name: str) -> None:
    rank = BASELINES[name](CARDS)

    assert rank("sending mails", 4)[0][0] == "tool_0"
    assert [tool for tool, _ in rank("files", 4)] == ["tool_2"]
    for query in ("", "the", '"', "a OR", "* NEAR(", "图片", "-", "x" * 3000):
        assert rank(query, 4) == []


def test_everything_is_installed_here() -> None:
    first, *_, last_but_one, last = installed()

    assert [first, last_but_one, last] == ["bm25", "rank-bm25", "sqlite-fts5"]


def run(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["cuecard", "bench", "search", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out, shown.err


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tools = [{"name": card.name, "description": card.description} for card in CARDS]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    (tmp_path / "queries.jsonl").write_text('{"query": "send mails", "tools": ["tool_0"]}\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_prints_a_line_for_each_ranker(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(["tools.json", "queries.jsonl"], monkeypatch, capsys)

    assert (code, err) == (0, "")
    assert out.startswith("4 tools, 1 queries; limit 8, confidence 0.2, cut 0.5\n")
    assert [line.split()[:2] for line in out.split("\n")[3 : 3 + len(installed())]] == [
        [name, "1.000"] for name in installed()
    ]


def test_json_has_the_settings_and_the_figures(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["tools.json", "queries.jsonl", "--json", "--ranker", "bm25", "--cut", "0", "--limit", "3"]
    told: dict[str, Any] = json.loads(run(arguments, monkeypatch, capsys)[1])

    assert {key: told[key] for key in ("tools", "queries", "limit", "cut")} == {
        "tools": 4,
        "queries": 1,
        "limit": 3,
        "cut": 0.0,
    }
    assert [each["ranker"] for each in told["rankers"]] == ["bm25"]
    assert told["rankers"][0]["recall"] == {"1": 1.0, "3": 1.0, "5": 1.0, "8": 1.0, "10": 1.0}


def test_an_agent_is_a_catalogue_without_its_core_tools(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "queries.jsonl").write_text('{"query": "attach an image", "tools": ["cms_updateSectionImage"]}\n')
    code, out, _ = run(["prompts/cms", "queries.jsonl"], monkeypatch, capsys)

    assert code == 0
    assert out.startswith("45 tools, 1 queries; limit 8, confidence 0.2, cut 0.5\n")


def test_a_tool_that_the_catalogue_lacks_is_reported_once_with_its_line(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ['{"query": "mail", "tools": ["tool_0"]}', *['{"query": "mail", "tools": ["gone"]}'] * 2]
    (files / "queries.jsonl").write_text("\n".join(lines))
    code, _, err = run(["tools.json", "queries.jsonl"], monkeypatch, capsys)

    assert (code, err) == (0, "queries.jsonl:2: the catalogue has no tool `gone`, so no search can find it\n")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("tools.json", "[]", "tools.json: error[missing-key]: there are no tools to search"),
        ("tools.json", '[{"name": 1}]', "tools.json:1:11: error[wrong-value]: it has no name"),
        ("queries.jsonl", "", "queries.jsonl: error[missing-key]: there are no queries"),
        ("queries.jsonl", "[", "queries.jsonl:1:2: error[json-syntax]"),
    ],
)
def test_a_wrong_file_is_an_error_at_its_place(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], file: str, text: str, message: str
) -> None:
    (files / file).write_text(text)
    code, out, err = run(["tools.json", "queries.jsonl"], monkeypatch, capsys)

    assert (code, out) == (1, "")
    assert err.startswith(message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ranker", "bm52"], "did you mean `bm25`?"),
        (["--cut", "2"], "--cut"),
        (["--limit", "0"], "--limit"),
    ],
)
def test_a_wrong_option_is_wrong_usage(
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    code, _, err = run(["tools.json", "queries.jsonl", *arguments], monkeypatch, capsys)

    assert code == 2
    assert message in err


def test_it_shows_the_misses_with_phrases_that_were_tried(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = [{"name": name, "description": text} for name, text in (("send_mail", "Send a mail"), ("draw", "Draw it"))]
    asked = [("send a mail", "send_mail"), ("write to my aunt.", "send_mail"), ("sketch a house", "draw")]
    (files / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    lines = [json.dumps({"query": query, "tools": [tool]}) for query, tool in asked]
    (files / "queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
    code, out, _ = run(["tools.json", "queries.jsonl", "--ranker", "bm25"], monkeypatch, capsys)

    assert code == 0
    assert out.split("\n\n")[-1].splitlines() == [
        "bm25 misses 2 of 3 queries; phrases would mend 2 (recall 0.333 -> 1.000):",
        "  send_mail:",
        '    - "write to my aunt"  # line 2',
        "  draw:",
        '    - "sketch a house"  # line 3',
    ]
    told = json.loads(run(["tools.json", "queries.jsonl", "--ranker", "bm25", "--json"], monkeypatch, capsys)[1])
    assert told["misses"]["queries"][0] == {
        "query": "write to my aunt.",
        "line": 2,
        "tools": ["send_mail"],
        "found": [],
        "phrase": "write to my aunt",
        "mended": True,
    }
    assert (told["misses"]["recall_mended"], told["misses"]["lost"], told["semantic"]) == (1.0, [], None)


def test_it_says_what_the_phrases_of_misses_would_lose_and_what_meaning_would_change() -> None:
    cards = [ToolCard("draw_house", "Draw"), ToolCard("send_mail", "Send a mail")]
    asked = [JudgedQuery("mail", frozenset({"send_mail"}), 1), JudgedQuery("mail it", frozenset({"draw_house"}), 2)]

    def build(cards: Any) -> Any:
        best = "draw_house" if cards[0].phrases else "send_mail"
        return lambda *_: [(best, 0.9)]

    spec = SearchSpec()
    missed = find_misses(measure("own", build, cards, asked, spec), build, cards, asked, spec)

    assert [(miss.query.line, miss.phrase, miss.mended) for miss in missed.misses] == [(2, "mail it", True)]
    assert (missed.recall, missed.recall_mended, missed.lost) == (0.5, 0.5, (1,))


def test_it_says_that_the_extra_was_not_measured_where_it_is_missing(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cuecard.workbench.bench.command.installed", lambda: {"bm25": installed()["bm25"]})
    missing = run(["tools.json", "queries.jsonl"], monkeypatch, capsys)[1]
    monkeypatch.undo()
    there = run([str(files / "tools.json"), str(files / "queries.jsonl")], monkeypatch, capsys)[1]

    assert missing.splitlines()[-1].startswith("What `semantic` would change was not measured: pip install")
    assert "`semantic` finds " in there.splitlines()[-1]
