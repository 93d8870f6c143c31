"""Rows as a source of sections: the entries of a list that the host supplies, one by one."""

from typing import Literal

from pydantic import Field

from cuecard.config.documents.validation import FileModel


class RowsSpec(FileModel):
    """The entries of a list: texts, or mappings. Its texts are Handlebars templates; entries without any text or number
    are left out.
    """

    input: str = Field(description="the input that contains the list")
    item: str = Field(
        "- {{{item}}}", description="how one entry is printed, from `item` (`{{{item.key}}}` of a mapping) and the call"
    )
    sort_by: str = Field("", description="the key to sort the entries by; by default they keep their order")
    descending: bool = Field(default=False, description="sort in descending order, such as the newest date first")
    limit: int | None = Field(None, ge=0, description="the maximum number of entries printed, from the first")
    lines: Literal["join", "keep"] = Field(
        "join", description="`join` puts each text on one line, so that it cannot look like another entry"
    )
    separator: str = Field("\n", description="the separator between two entries")
    before: str = Field("", description="the text before the entries, if there are any")
    after: str = Field("", description="the text after the entries, if there are any")
