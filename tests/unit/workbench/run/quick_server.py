"""A tool server that is written by hand, because the SDK of MCP takes most of a second to import.

`python quick_server.py` has a tool that breaks and one that dies; with words, it has tools of these names.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

NAMES = sys.argv[1:] or ["text", "boom", "die"]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """What is said to a request: its result or its error."""
    if method == "initialize":
        about = {"name": "quick", "version": "1"}
        version = params["protocolVersion"]
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}}
    if method == "tools/list":
        return {"result": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in NAMES]}}
    if params["name"] == "die":
        sys.stderr.write("out of memory\n")
        sys.stderr.flush()
        os._exit(9)
    if params["name"] == "boom":
        return {"error": {"code": -32603, "message": "the tool broke"}}
    return {"result": {"content": [{"type": "text", "text": "two lines\nof text"}]}}


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            said = {"jsonrpc": "2.0", "id": asked["id"], **answer(asked["method"], asked.get("params", {}))}
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()
