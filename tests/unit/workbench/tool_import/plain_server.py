"""A tool server over pipes that is written by hand, because the SDK of MCP takes most of a second to import.

`python plain_server.py FILE` lists the tools of a JSON file, and says its instructions.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def answer(said: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """What is said to a request, with the number of the request."""
    if asked["method"] == "initialize":
        result = {
            "protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "weather", "version": "1"},
            "instructions": said["instructions"],
        }
    elif asked["method"] == "tools/list":
        result = {"tools": said["tools"]}
    else:
        unknown = {"code": -32601, "message": "Method not found"}
        return {"jsonrpc": "2.0", "id": asked["id"], "error": unknown}
    return {"jsonrpc": "2.0", "id": asked["id"], "result": result}


if __name__ == "__main__":
    listing = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            sys.stdout.write(json.dumps(answer(listing, request)) + "\n")
            sys.stdout.flush()
