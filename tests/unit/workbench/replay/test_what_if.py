"""A recorded conversation as it might have been: its length, and the width of its searches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cuecard.pipeline.search_results import found_names
from cuecard.workbench.replay.report import BillingModels, replay
from cuecard.workbench.replay.what_if import lengthened, widened
from unit.workbench.replay.small import engine, pages, profile

OWN = sum(1 for _ in pages().requests())


@given(st.integers(1, 40))
def test_a_conversation_has_as_many_requests_as_are_wanted(number: int) -> None:
    longer = lengthened(pages(), number)

    assert sum(1 for _ in longer.requests()) == number
    assert [*longer.requests()][:OWN] == [*pages().requests()][:number]


def test_as_long_as_it_is_it_is_the_same() -> None:
    assert lengthened(pages(), OWN) == pages()


def test_what_is_said_again_has_its_own_calls_and_comes_later() -> None:
    longer = lengthened(pages(), 3 * OWN)

    ids = [call.id for request in longer.requests() for call in request.calls if call.id]
    moments = [request.at for request in longer.requests() if request.at]
    assert len({*ids}) == len(ids)
    assert moments == sorted(moments)
    assert replay(engine(), longer, BillingModels([profile()])).variants


@given(st.integers(1, 12))
def test_a_search_returns_at_most_so_many_tools_and_first_those_that_it_returned(width: int) -> None:
    before = [call for request in pages().requests() for call in request.calls if call.tool == engine().search_tool]
    wider = widened(pages(), engine(), width)
    after = [call for request in wider.requests() for call in request.calls if call.tool == engine().search_tool]

    for old, new in zip(before, after, strict=True):
        was, found = found_names(old.result).names, found_names(new.result).names
        assert len(found) <= width
        assert found[: len(was)] == was[:width]
