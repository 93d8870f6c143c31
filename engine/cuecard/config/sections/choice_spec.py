"""Alternative texts: the first one whose condition holds is used."""

from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from cuecard.config.documents.validation import FileModel
from cuecard.config.sections.condition import Condition, ConditionSpec, Patterns
from cuecard.config.values.names import as_tuple


class ChoiceSpec(FileModel):
    """A text, and the condition under which it is used."""

    when: Condition | None = Field(None, description="this text is used only if this condition holds")
    model: Patterns | None = Field(None, description="short for `when: {model: ...}`")
    text: str | None = Field(None, description="a Handlebars template, like the section's `text`")
    file: str | None = Field(None, description="the same in a file, relative to the agent file")

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if (self.text is None) == (self.file is None):
            raise ValueError("should have one of the keys text, file")
        if self.when is not None and self.model is not None:
            raise ValueError("may have only one of when, model")
        return self

    @property
    def condition(self) -> ConditionSpec | None:
        """The condition; None for always."""
        return ConditionSpec(model=self.model) if self.model is not None else self.when


def _reachable(choices: tuple[ChoiceSpec, ...]) -> tuple[ChoiceSpec, ...]:
    """A text after one without a condition would never be used."""
    always = next((at for at, choice in enumerate(choices, 1) if choice.condition is None), len(choices))
    if always < len(choices):
        context = {"at": always}
        raise PydanticCustomError("unreachable", "has entries after number {at}, which always applies", context)
    return choices


Choices = Annotated[tuple[ChoiceSpec, ...], BeforeValidator(as_tuple), AfterValidator(_reachable), Field(min_length=1)]
"""Texts, in the order in which they are tried."""
