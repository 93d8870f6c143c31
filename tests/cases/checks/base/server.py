"""A tool server with one tool. It speaks MCP by hand, because it starts in no time: JSON lines in, JSON lines out.

`--circle`: its list of tools has no end; `--twice`: it lists each twice; `--odd`: it lists what is none; `--refuse`: it
refuses to list them; `--snapshot`: print the content, and end.
"""

import json
import sys

TOOLS = [{"name": "list_pages", "description": "List pages", "inputSchema": {"type": "object"}}]


def answer(method: str, params: dict[str, object]) -> dict[str, object]:
    if method == "initialize":
        server = {"name": "pages", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        tools = TOOLS * 2 if "--twice" in sys.argv else "list_pages" if "--odd" in sys.argv else TOOLS
        return {"tools": tools, "nextCursor": "again"} if "--circle" in sys.argv else {"tools": tools}
    return {"content": [{"type": "text", "text": json.dumps({"pages": ["Home"]})}]}


def serve() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        if request["method"] == "tools/list" and "--refuse" in sys.argv:
            reply["error"] = {"code": -32603, "message": "not today"}
        else:
            reply["result"] = answer(request["method"], request.get("params", {}))
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    if "--snapshot" in sys.argv:
        print(json.dumps({"pages": 1}))
    else:
        serve()
