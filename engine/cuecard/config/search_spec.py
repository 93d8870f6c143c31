"""The search tool: its name, and which hits are worth their tokens."""

from pydantic import Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.names import ToolName


class AheadSpec(FileModel):
    """A search with the user's own words, before the model asks for one."""

    limit: int = Field(3, ge=1, le=50, description="the maximum number of tools that a user message discovers")
    confidence: float = Field(
        0.5,
        ge=0,
        le=1,
        description="tools with a lower score are left to the model's own search; a ranker with its own scale may "
        "have another default",
    )


class SearchSpec(FileModel):
    """The search tool: how tools are discovered."""

    tool: ToolName = Field("tool_search", description="the name of the search tool")
    limit: int = Field(8, ge=1, le=50, description="the maximum number of tools that a search returns")
    confidence: float = Field(0.2, ge=0, le=1, description="below this confidence a search returns nothing")
    cut: float = Field(
        0.5,
        ge=0,
        le=1,
        description="hits that score below this share of the best are not returned, nor are hits after a wide gap in "
        "a confident answer; `0` returns as many as `limit` allows",
    )
    ranker: str = Field(
        "bm25",
        description="how tools are ranked: `bm25`; `semantic` for sentence vectors; or a function, `my_package:rank`, "
        "if the host allows code. The defaults of `confidence` and `cut` depend on it: docs/rankers.md",
    )
