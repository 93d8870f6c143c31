"""The agents of a service, when they cannot all be served."""

import threading
from functools import partial
from pathlib import Path

import pytest

from cuecard import InputError, SpecError, watch
from cuecard.server.agents import open_agents

CMS = Path("prompts/cms").resolve()


def watching() -> set[threading.Thread]:
    """The threads that follow files."""
    return {thread for thread in threading.enumerate() if thread.name == "cuecard-watch"}


@pytest.mark.parametrize(("other", "error"), [(CMS, InputError), (CMS / "nowhere", SpecError)])
def test_a_service_that_does_not_begin_follows_no_files(
    tmp_path: Path, other: Path, error: type[InputError | SpecError]
) -> None:
    before = watching()
    with pytest.raises(error):
        open_agents([CMS, other], partial(watch, states=tmp_path))
    assert watching() <= before
