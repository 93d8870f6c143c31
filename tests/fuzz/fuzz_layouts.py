"""Any YAML is laid out so that it says the same, twice as once, or stays as it is with a reason."""

from __future__ import annotations

from cuecard import SpecError
from cuecard.config.documents.yaml import read_yaml
from cuecard.workbench.fmt.yaml_layout import KINDS, KeptError, formatted_yaml
from fuzz.drawn import check_drawn
from fuzz.fuzz_yaml import PHRASES, PIECES

__all__ = ["PHRASES", "PIECES", "target"]


def target(data: bytes) -> None:
    """Lay out one input, as it comes from a file: with newlines and without a byte order mark."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for tidy in KINDS.values():
        assert tidy(tidy(text)) == tidy(text)
    try:
        made = formatted_yaml(text, "a.yaml")
    except SpecError as error:
        check_drawn(error, text)
    except KeptError:
        return
    else:
        assert repr(read_yaml(made, "a.yaml").value) == repr(read_yaml(text, "a.yaml").value)
        assert formatted_yaml(made, "a.yaml") == made
