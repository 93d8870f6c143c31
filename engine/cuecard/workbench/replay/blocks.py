"""The pieces of requests as blocks: tool definitions, segments of the system prompt, messages, appended blocks.

A label says what a block is: the group (`tools`, `system`, `messages` or `appended`), a slash, and a name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from cuecard.catalogue.catalogue import definition_text
from cuecard.config.transcript_file import RecordedCall, RecordedRequest
from cuecard.model import Appended, CountTokens, Json, SectionRecord, Segment, ToolCard
from cuecard.pipeline.segments import count_pieces
from cuecard.workbench.bill import BillBlock

GROUPS = ("tools", "system", "appended", "messages")
"""What a request is made of."""


def tool_block(card: ToolCard, count: CountTokens, *, appended: bool = False) -> BillBlock:
    """The definition of a tool: name, description and schema, as JSON; in front, or `appended` where it was found."""
    definition = definition_text(card.name, card.description, card.input_schema)
    return _block("appended" if appended else "tools", card.name, definition, count)


def segment_blocks(segment: Segment, count: CountTokens) -> list[BillBlock]:
    """A segment of the system prompt, line by line: an automatic cache can keep each line; see `count_pieces`."""
    lines = segment.text.splitlines(keepends=True)
    label = f"system/{segment.id}"
    return [
        BillBlock(f"{label}:{line}", tokens, label)
        for line, tokens in zip(lines, count_pieces(lines, count), strict=True)
    ]


def spoken_block(record: SectionRecord) -> BillBlock:
    """A section that is sent as a separate message; the engine has counted its tokens."""
    return BillBlock(f"messages:{record.id}:{record.sha256}", record.tokens, f"messages/{record.id}")


def appended_block(block: Appended, around: int) -> BillBlock:
    """A block of instructions in the conversation, with `around` tokens of framing; the engine has counted its own."""
    return BillBlock(f"appended:{block.sha256}", block.tokens + around, f"appended/{block.id.rpartition('-')[0]}")


def user_block(text: str, count: CountTokens) -> BillBlock:
    """What the user wrote."""
    return _block("messages", "user", text, count)


def answer_blocks(request: RecordedRequest, count: CountTokens) -> list[BillBlock]:
    """The model's text and each of its calls: to providers, these are separate blocks."""
    calls = [compact({"name": call.tool, "arguments": call.args}) for call in request.calls]
    return [_block("messages", "assistant", part, count) for part in (request.text, *calls) if part]


def result_block(call: RecordedCall, count: CountTokens) -> BillBlock:
    """What a tool returned."""
    return _block("messages", call.tool, call.result if isinstance(call.result, str) else compact(call.result), count)


def compact(value: Json) -> str:
    """JSON as providers' clients write it into requests: no spaces, no escaped letters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tokens_by_group(blocks: Sequence[BillBlock]) -> Mapping[str, int]:
    """The tokens of each of `GROUPS`."""
    sums = dict.fromkeys(GROUPS, 0)
    for block in blocks:
        sums[block.label.partition("/")[0]] += block.tokens
    return sums


def _block(group: str, name: str, text: str, count: CountTokens) -> BillBlock:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return BillBlock(f"{group}:{name}:{digest}", count(text), f"{group}/{name}")
