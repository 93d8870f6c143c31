"""The keys under which hosts, frameworks and providers wrap the result of a tool."""

from __future__ import annotations

STRUCTURED = ("structuredContent", "structured_content")
"""The structured content of a result from an MCP server; its content says the same as parts."""

BLOCKS = ("toolResult", "functionResponse", "function_response")
"""The blocks in which Bedrock and Gemini send a result."""

FAILED = ("isError", "is_error")
"""The keys that are true for a failed call."""
