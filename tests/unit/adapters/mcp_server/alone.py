"""Coroutines that use an MCP client, and raise what was raised in it rather than a group around it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from cuecard.adapters.mcp_client.errors import leaves

Result = TypeVar("Result")


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine."""
    try:
        return asyncio.run(work)
    except BaseExceptionGroup as group:
        raise next(leaves(group)) from None
