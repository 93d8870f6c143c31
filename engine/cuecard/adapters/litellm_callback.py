"""LiteLLM's callback: every awaited completion of a process, of its routers or of a proxy gets its prompt.

litellm.callbacks = [CuecardCallback(Cuecard(engine=Engine.open("prompts/cms")))]
"""

from __future__ import annotations

from cuecard.adapters.framework_seam import needs

with needs("litellm", ">=1.83", "litellm"):
    from litellm.integrations.custom_logger import CustomLogger
    from litellm.types.utils import CallTypes

from typing import Any

from typing_extensions import override

from cuecard.adapters.litellm import Cuecard


class CuecardCallback(CustomLogger):
    """Prepares each request as it goes to the deployment that a router has chosen: model and address are known then.

    LiteLLM asks it for `acompletion`, and so for routers and the proxy; not for `completion`, for which there is
    `Cuecard.wrap`. The one who asked still runs the calls of the model, those of the search tool among them.
    """

    def __init__(self, card: Cuecard) -> None:
        """Make a callback around `card`."""
        super().__init__()
        self._card = card

    @override
    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: CallTypes | None
    ) -> dict[str, Any] | None:
        """The arguments of a completion with the prompt, the tools and the blocks in their places."""
        if call_type is not CallTypes.acompletion:
            return None
        return self._card.over(kwargs)
