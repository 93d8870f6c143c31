"""`cuecard check`: every problem of an agent's files, all at once."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from cuecard.cli.step import open_engine
from cuecard.errors import CuecardError, Problem


def check(agent: Path, *, as_json: bool) -> int:
    """Print what is wrong; 1 when there is an error, 0 when there is none (warnings do not fail a check)."""
    try:
        engine = open_engine(agent)
        problems: tuple[Problem, ...] = engine.warnings
        facts = f"{engine.agent.spec.agent}: {len(engine.agent.sections)} sections, {len(engine.tools)} tools"
    except CuecardError as error:
        problems, facts = error.problems, str(agent)
    errors = sum(p.severity == "error" for p in problems)
    if as_json:
        print(json.dumps({"ok": not errors, "problems": [asdict(p) for p in problems]}, indent=2, ensure_ascii=False))
    else:
        sys.stderr.write("".join(f"{p.picture()}\n\n" for p in problems))
        print(f"{facts}: {_plural(errors, 'error')}, {_plural(len(problems) - errors, 'warning')}")
    return 1 if errors else 0


def _plural(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
