"""Any text is records of requests that a report can be made of; what cannot be read costs its line only."""

from __future__ import annotations

from cuecard import SpecError
from cuecard.recording.records import read_records
from cuecard.workbench.field.command import page
from cuecard.workbench.field.findings import field_report
from fuzz.drawn import check_told
from fuzz.json_pieces import PIECES as JSON

_MANIFEST = (
    '{"format": 1, "configuration": {"agent": "a", "sha256": "x"}, "delivery": {"mode": "append", "reason": "r"}, '
    '"active_tools": ["t"], "discovered": [], "sections": [], "protocols": [], "total_tokens": 0, '
    '"tokens": {"system": 0}}'
)
PIECES = (*JSON, "\n", "<script>", "\x1b[2J", '"manifest":', '"calls":', '"format": 1', _MANIFEST)
PHRASES = (
    *(f'{{"manifest": {_MANIFEST}, "calls": [', '{"tool": "tool_search", "arguments": {"query": "x"}, "result": []}'),
    *("]}\n", ", ", f"{_MANIFEST}\n", '{"tool": "t", "is_error": true, "result": {"a": "<b>"}}', "{}\n", "[]\n", "7\n"),
    *('{"conversation": {"a": 1}, "manifest": {}}\n', '"calls": [7]', '{"tool": 3, "arguments": "x"}'),
)


def target(data: bytes) -> None:
    """Read one input, as a file of lines and as one object."""
    text = data.decode("utf-8", "replace")
    for name in ("a.jsonl", "a.json"):
        requests, problems = read_records([(name, text)])
        if problems:
            check_told(SpecError(problems))
        shown = page(field_report(requests, "tool_search", None))
        assert "<script" not in shown
        assert "\x1b" not in shown
