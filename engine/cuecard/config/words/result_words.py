"""Words in the results of tools: what stands where a long one was cut."""

from typing import Annotated

from pydantic import Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.placeholders import holds
from cuecard.config.words.word import SAYING, TAGS


class ResultWords(FileModel):
    """What stands in the middle of a result that was cut there, line breaks around it."""

    characters: Annotated[str, holds("count", required=("count",)), SAYING, TAGS] = Field(
        "\n[... {count} characters left out ...]\n", description="{count} characters were left out"
    )
    lines: Annotated[str, holds("count", required=("count",)), SAYING, TAGS] = Field(
        "\n[... {count} lines left out ...]\n", description="{count} lines were left out"
    )
    tokens: Annotated[str, holds("count", required=("count",)), SAYING, TAGS] = Field(
        "\n[... {count} tokens left out ...]\n", description="{count} tokens were left out"
    )
