"""Facts about a call as a source of sections: one line for each."""

from pydantic import Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.sections.clock_spec import ClockSpec


class FactsSpec(FileModel):
    """Lines of facts, in the order of `labels`. An empty value has no line; false and 0 do."""

    labels: dict[str, str] = Field(
        default_factory=dict, description="a value of the call to the label of its line; `a.b` reads a key of an object"
    )
    others: str = Field("", description="an input with further facts by name, which are sorted and come last")
    clock: ClockSpec | None = Field(
        None, description="adds `datetime`, `date`, `time` and `timezone` to the values that `labels` can name"
    )
    line: str = Field("- {{{label}}}: {{{value}}}", description="how one fact is printed; a Handlebars template")
    separator: str = Field("\n", description="the separator between two facts")
