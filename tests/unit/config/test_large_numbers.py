"""Row 32 of the acceptance table for robustness, in part: numbers in YAML that Python could not even print."""

from __future__ import annotations

import pytest

from cuecard import SpecError
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_values import MAX_BITS


@pytest.mark.parametrize("number", ["9" * 5_000, "0x" + "f" * 100_000, "0o" + "7" * 5_000, "-0x" + "f" * 300])
def test_a_number_too_large_to_print_is_a_located_error(number: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_yaml(f"small: 1\nlarge: {number}\nlist: [{number}]", "turn.yaml")

    assert [problem.code for problem in caught.value.problems] == ["yaml-value", "yaml-value"]
    assert "turn.yaml:2:8: error[yaml-value]" in str(caught.value)


@pytest.mark.parametrize("number", [".inf", "-.INF", ".nan", "1e999", "-1e999"])
def test_a_number_that_json_does_not_have_is_a_located_error(number: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_yaml(f"small: 1\nlarge: {number}\nlist: [{number}]", "turn.yaml")

    assert "turn.yaml:2:8: error[yaml-value]: a number that JSON does not have" in str(caught.value)
    assert len(caught.value.problems) == 2
    assert read_yaml(f"a: '{number}'", "turn.yaml").value == {"a": number}


def test_the_largest_number_that_is_read_can_be_printed_and_made_a_float() -> None:
    largest = 2**MAX_BITS - 2 ** (MAX_BITS - 54) - 1
    value = read_yaml(f"x: {hex(largest)}", "turn.yaml").value["x"]

    assert (str(value), float(value)) == (str(largest), float(largest))
