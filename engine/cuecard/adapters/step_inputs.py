"""What a host says again for each request of a turn: the inputs that the agent file declares with `tier: step`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cuecard.agent.agent import Agent
from cuecard.model import Json, Turn
from cuecard.model.boundary import admit


def inputs_now(agent: Agent, said: Callable[[], Turn]) -> Mapping[str, Json]:
    """The values of those inputs in the turn that the host makes now; everything else was taken from the first one.

    Args:
        agent: the agent.
        said: makes the turn; asked only where there are such inputs. One that it leaves out has its default again;
            one without a default, or whose default is null, stays as it is.

    Raises:
        InputError: when it makes something else than a turn.
    """
    changing = {name: spec for name, spec in agent.spec.inputs.items() if spec.tier == "step"}
    given = admit(Turn, said(), "turn").inputs if changing else {}
    values = {name: given.get(name, spec.default) for name, spec in changing.items()}
    return {name: value for name, value in values.items() if value is not None}
