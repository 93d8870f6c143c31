"""LiteLLM's callback: every awaited completion of a process, of its routers or of a proxy gets its prompt.

litellm.callbacks = [CuecardCallback(Cuecard(engine=Engine.open("prompts/cms")))]
"""

from __future__ import annotations

from cuecard.adapters.clients import needs

with needs("litellm", "litellm", __name__):
    from litellm.exceptions import BadRequestError
    from litellm.integrations.custom_logger import CustomLogger
    from litellm.types.utils import CallTypes

from typing import Any

from typing_extensions import override

from cuecard.adapters.litellm import Cuecard
from cuecard.errors import InputError

_ASKED = ("messages", "tools")
"""What the one who asks for a completion has written."""


class CuecardCallback(CustomLogger):
    """Prepares each request as it goes to the deployment that a router has chosen: model and address are known then.

    LiteLLM asks it for `acompletion`, and so for routers and the proxy; not for `completion`, for which there is
    `Cuecard.wrap`. The caller still runs the model's tool calls, those of the search tool included.
    """

    def __init__(self, card: Cuecard) -> None:
        """Make a callback around `card`."""
        super().__init__()
        self._card = card

    @override
    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: CallTypes | None
    ) -> dict[str, Any] | None:
        """The arguments of a completion with the prompt, the tools and the blocks in their places.

        Raises:
            BadRequestError: with everything that is wrong in messages and tools: the proxy answers it with 400, and a
                router neither tries it again nor lets the deployment rest.
            InputError: with everything that is wrong in the turn, which is not the client's.
        """
        if call_type is not CallTypes.acompletion or kwargs.get("fallbacks"):  # each of those is a completion, too
            return None
        try:
            return self._card.over(kwargs)
        except InputError as error:
            if all(problem.name.startswith(_ASKED) for problem in error.problems):
                raise BadRequestError(str(error), model=str(kwargs.get("model", "")), llm_provider="") from error
            raise
