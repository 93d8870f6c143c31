"""Logs as JSON lines: events, never the content of conversations."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from cuecard.model import Json

_log = logging.getLogger("cuecard.server")


def log_event(event: str, level: int = logging.INFO, *, fault: BaseException | None = None, **facts: Json) -> None:
    """Log an event with its facts.

    Args:
        event: a short, stable name, such as `request`.
        level: a level of `logging`.
        fault: an error, logged by type and stack; its message may contain user text and is left out.
        facts: plain values; never the text of a prompt, message or result.
    """
    _log.log(level, event, extra={"facts": facts}, exc_info=fault)


class JsonLines(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Format the record as JSON."""
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        error = record.exc_info[1] if record.exc_info else None
        if error:
            frames = traceback.extract_tb(error.__traceback__)
            told["error"] = type(error).__name__
            told["stack"] = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        return json.dumps(told, default=str)


def log_to_stderr() -> None:
    """Send the logs of this process to stderr as JSON lines; only `cuecard serve` does this."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
