"""What JSON is made of: words of the readers of messages, logs and tool lists, and what breaks a JSON text."""

from __future__ import annotations

PIECES = (
    *("{", "}", "[", "]", ",", ":", '"', '\\"', "\\u", "\\ud800", "\\n", "null", "true", "false", "0", "-1", "1e999"),
    *("NaN", "1" * 30, " ", "\n", '""', '"name":', '"tools":', '"role":', '"content":', '"parts":', '"messages":'),
    *('"turns":', '"text":', '"type":', '"result":', '"tool_call_id":', '"input":', '"output":', '"id":', '"x"'),
)

PHRASES = (
    *('{"name": "a"}', '{"tool_name": "b"}', '{"tools": [', '{"content": [', '{"type": "text", "text": "', "]}", '"}'),
    *('{"role": "user", "content": "hi"}', '{"role": "tool", "tool_call_id": "1", "content": "x"}', ", ", "[", "]"),
    *('{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]}', "{}", "[]"),
    *('{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "a"}]}', '{"messages": [', '"model": "m"'),
    *('{"name": "a", "inputSchema": {"properties": {"b": {"enum": [1, "c"]}}}}', '{"function": {"name": "f"}}', "\n"),
    *('{"turns": [{"user": "a", "requests": [{"calls": []}]}]}', '{"structuredContent": {"tools": ["a"]}}', '"a"', "7"),
    *('{"request": {"messages": [], "tools": []}, "response": {"usage": {"input_tokens": 1}}}', "\\ud800", "null"),
)
"""What makes sense on its own: a text of such phrases goes further than one of pieces."""
