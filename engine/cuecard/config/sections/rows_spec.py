"""Rows as a source of sections: the entries of a list that the host supplies, one by one."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cuecard.config.documents.validation import FileModel


class RowsSpec(FileModel):
    """The entries of a list: texts, or mappings. Its texts are Handlebars; entries without any text are left out."""

    input: str = Field(description="the input that holds the list")
    item: str = Field(
        "- {{{item}}}", description="how one entry is printed, from `item` (`{{{item.key}}}` of a mapping) and the call"
    )
    sort_by: str = Field("", description="the key of the entries to sort by; left out, they stay as they come")
    descending: bool = Field(default=False, description="the greatest first, such as the newest date")
    limit: int | None = Field(None, ge=0, description="how many entries are printed at most, from the first one on")
    lines: Literal["join", "keep"] = Field(
        "join", description="`join` puts each text on one line, so that it cannot look like another entry"
    )
    separator: str = Field("\n", description="stands between two entries")
    before: str = Field("", description="stands before the entries, when there are any")
    after: str = Field("", description="stands behind the entries, when there are any")
