"""`cuecard tools result`: a tool's result as the model would read it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from cuecard.cli.json_text import json_text
from cuecard.cli.step import open_engine
from cuecard.errors import InputError, Problem, visible
from cuecard.model import Json, RenderedResult, ToolResult
from cuecard.outside.reading import read_text

_STDIN = Path("-")


def show_result(agent: Path, tool: str, file: Path, *, failed: bool, as_json: bool, allow_code: bool) -> None:
    """Print the text of this result, and on standard error how it was rendered.

    Raises:
        CuecardError: with every problem of the agent or the file.
    """
    engine = open_engine(agent, allow_code=allow_code)
    made = engine.render_result(ToolResult(tool, _result(file), is_error=failed))
    if as_json:
        print(json_text(made.to_json()))
        return
    # A result without a template is sent as it is, but its control characters must not reach a terminal.
    text = re.sub(r"[^\n\t]+", lambda piece: visible(piece.group()), made.text)
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    sys.stderr.write("".join(f"{visible(line)}\n" for line in _told(made)))


def _result(file: Path) -> Json:
    """The content of a file: JSON if possible, otherwise a text."""
    if file == _STDIN:
        return sys.stdin.read()
    text = read_text(file).text
    if file.suffix != ".json":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = "rename it, if it is a text"
        raise InputError(Problem("wrong-file", f"this is no JSON: {error}", hint, str(file))) from None


def _told(made: RenderedResult) -> list[str]:
    rule = f"told by `{made.rule}` ({made.source})" if made.rule else "no template: the result as it is"
    cut = [f"left out: {made.left_out:,} of {made.whole:,} {made.unit}"] if made.left_out else []
    changed = [f"neutralised: {kind}: {number}" for kind, number in made.trust.items()]
    return [rule, *cut, *changed, *(f"{each.code}: {each.message}" for each in made.diagnostics)]
