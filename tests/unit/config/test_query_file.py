from __future__ import annotations

import pytest

from cuecard import SpecError
from cuecard.workbench.bench.measure import JudgedQuery, read_queries


def test_each_line_is_a_query_and_empty_lines_are_none() -> None:
    text = '{"query": "a", "tools": ["x"], "note": 1}\n\n{"query": "", "tools": ["y", "z", "y"]}\n'

    assert read_queries(text, "q.jsonl") == [
        JudgedQuery("a", frozenset({"x"}), 1),
        JudgedQuery("", frozenset({"y", "z"}), 3),
    ]


def test_every_wrong_line_is_shown() -> None:
    text = '{"query": "a", "tools": ["x"]}\n[]\n{"query": 1}\n{"tools": []}\nnope\n{"query": "a", "tools": "x"}'
    with pytest.raises(SpecError) as error:
        read_queries(text, "q.jsonl")

    found = [(p.span.line if p.span else 0, p.code) for p in error.value.problems]
    assert found == [
        (2, "wrong-value"),
        (3, "wrong-value"),
        (3, "missing-key"),
        (4, "missing-key"),
        (4, "wrong-value"),
        (5, "json-syntax"),
        (6, "wrong-value"),
    ]
    assert "q.jsonl:6:1" in str(error.value)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_a_file_without_queries_is_an_error(text: str) -> None:
    with pytest.raises(SpecError, match="there are no queries"):
        read_queries(text, "q.jsonl")
