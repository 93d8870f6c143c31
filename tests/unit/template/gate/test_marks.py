from __future__ import annotations

from itertools import groupby

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cuecard.template.guards.marks import CLOSE, HTML, MARKS, OPEN, DataSpan, read_marks


@settings(max_examples=200)
@given(st.text(alphabet=f"ab{MARKS}", max_size=12))
@example(f"{OPEN}a{OPEN}b{CLOSE}")
def test_marks_are_read_as_one_character_after_another(text: str) -> None:
    opened, plain, owners = list[int](), "", list[int]()
    for place, character in enumerate(text):
        if character == CLOSE:
            opened = opened[:-1]
        elif character in MARKS:
            opened.append(place)
        else:
            plain += character
            owners.append(opened[0] if opened else -1)
    spans = [(owner, [at for at, _ in some]) for owner, some in groupby(enumerate(owners), key=lambda each: each[1])]

    read, found = read_marks(text)
    assert read == plain
    assert [*found] == [DataSpan(at[0], at[-1] + 1, text[owner] == HTML) for owner, at in spans if owner >= 0]
