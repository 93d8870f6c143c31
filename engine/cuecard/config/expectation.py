"""What a turn file expects of its prompt, for `cuecard test` and the pytest plugin."""

from __future__ import annotations

from pydantic import Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.names import NameOrNames, Texts


class Expectation(FileModel):
    """What has to hold of a prompt; each key that is left out is not asked."""

    contains: Texts = Field((), description="texts that the prompt holds: system prompt, messages or appended blocks")
    absent: Texts = Field((), description="texts that it does not hold")
    active: NameOrNames = Field((), description="tools that may be called")
    inactive: NameOrNames = Field((), description="tools that may not be called")
    sections: Texts = Field((), description="sections that are there, in this order; others may stand between them")
    without: Texts = Field((), description="sections that are not there")
    max_tokens: int | None = Field(None, ge=1, description="how many tokens the whole prompt has at most")
    shares_cache: bool | None = Field(
        None,
        description="whether it begins with the prompt of the turn before, which the provider then has cached",
    )
    snapshot: bool = Field(
        default=False, description="whether it is what `cuecard test --update` has written down in `snapshots/`"
    )
