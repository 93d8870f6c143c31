"""A mistake in a text inside a YAML file is shown where it stands in that file."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import SpecError
from unit.agent.section_lists.agents import opened


def place(folder: Path, text: str) -> tuple[int, int, str]:
    """Line, column and line of the one mistake, an input `nobody` that nobody declared."""
    with pytest.raises(SpecError) as caught:
        opened(folder, f"agent: a\nsections:\n{text}")
    (problem,) = caught.value.problems
    assert problem.span
    return problem.span.line, problem.span.column, problem.source[problem.span.column - 1 :][: problem.span.length]


EXACT = [
    "  - {id: a, text: '{{{nobody}}}'}\n",
    '  - {id: a, text: "So {{{nobody}}}"}\n',
    '  - {id: a, text: "So {{{nobody}}}\\nmore"}\n',
    "  - id: a\n    text: plain {{{nobody}}}\n",
    "  - id: a\n    text: |\n      one\n\n      two {{{nobody}}}\n",
    "  - id: a\n    text: |-\n\n\n      two {{{nobody}}}\n",
    "  - id: a\n    text: |+\n      two\n\n      {{{nobody}}}\n\n",
    "  - id: a\n    text: |2-\n         deep\n      two {{{nobody}}}\n",
    "  - id: a\n    text: |2\n        deep {{{nobody}}}\n      two\n",
    "  - id: a\n    text: |-2\n           deep\n        two {{{nobody}}}\n",
    "  - id: a\n    text: |4 # a comment\n          deep\n        {{{nobody}}}\n",
    "  -   id: a\n      text:    |\n         wide {{{nobody}}}\n",
    "  - id: a\n    text: >\n      folded\n      {{{nobody}}}\n",
    "  - id: a\n    text: >2-\n        folded\n      {{{nobody}}}\n",
    '  - {id: a, text: "one\\ntwo {{{nobody}}}"}\n',
    '  - {id: a, text: "\\u0041 {{{nobody}}}"}\n',
    "  - {id: a, text: 'it''s {{{nobody}}}'}\n",
    "  - id: a\n    text: plain\n      goes on {{{nobody}}}\n",
    '  - id: a\n    text: "quoted\n\n      goes on {{{nobody}}}"\n',
    "  - id: a\n    text:\n      plain\n      goes {{{nobody}}}\n",
    "  - id: a\n    text: nobody or\n      nobody, said nobody\n      of {{{nobody}}}\n",
]


@pytest.mark.parametrize("text", EXACT)
def test_the_place_is_exact(tmp_path: Path, text: str) -> None:
    line, column, marked = place(tmp_path, text)
    before = f"agent: a\nsections:\n{text}".rpartition("nobody")[0]

    assert marked == "nobody"
    assert (line, column) == (before.count("\n") + 1, len(before) - before.rfind("\n"))


def test_where_the_words_stand_otherwise_in_the_file_it_points_at_the_text(tmp_path: Path) -> None:
    assert place(tmp_path, '  - {id: a, text: "{{{no\\x62ody}}}"}\n')[:2] == (3, 19)


def test_a_mistake_in_a_file_and_in_a_partial_is_shown_in_that_file(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        opened(
            tmp_path,
            "agent: a\nlayout: {partials: partials}\nsections: [{id: a, file: a.md}]\n",
            a_md="One\n{{{nobody}}} {{> tone}}",
            partials__tone_hbs="Be {{{kind}}}.",
        )

    assert [(Path(p.name).name, p.span.line, p.span.column) for p in caught.value.problems if p.span] == [
        ("a.md", 2, 4),
        ("tone.hbs", 1, 7),
    ]
