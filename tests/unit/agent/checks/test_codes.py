"""The table of codes is what the engine reports: no code is missing in it, and none is left over."""

from __future__ import annotations

from cuecard.agent.checks.codes import CODES
from unit.agent.checks.source_codes import source_codes


def test_every_code_that_the_engine_uses_is_in_the_table_and_no_other() -> None:
    assert set(CODES) == set(source_codes())
