"""An MCP server whose agent can be replaced while clients are connected: they are told which lists have changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from mcp.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ServerEvent, ToolsListChanged
from pydantic import BaseModel

from cuecard.adapters.mcp_server import Serving, add_skills, by_uri
from cuecard.config.skills.packages import SkillPackage
from cuecard.engine import Engine

_Handler: TypeAlias = Callable[[Any, Any], Awaitable[Any]]

_EVENTS: tuple[ServerEvent, ...] = (PromptsListChanged(), ToolsListChanged(), ResourcesListChanged())
"""What clients of today's protocol subscribe to, in the order of the lists."""

_SENDERS = (
    ServerSession.send_prompt_list_changed,
    ServerSession.send_tool_list_changed,
    ServerSession.send_resource_list_changed,
)
"""What clients of the protocol with a handshake are sent, in the same order."""


class FollowingServer:
    """The server of one connection, such as standard input and output.

    Attributes:
        server: to be run with a transport of the package `mcp`, and with `options`.
    """

    def __init__(self, engine: Engine, packages: Sequence[SkillPackage] = (), version: str = "") -> None:
        """Serve an agent and its skills; `version` is the version that the server reports."""
        self._serving = serving = Serving(engine, by_uri(engine, packages))
        self._bus = InMemorySubscriptionBus()
        self._session: ServerSession | None = None
        self.server: Server[Any] = Server(
            engine.name,
            version=version,
            on_list_prompts=self._listed(serving.list_prompts),
            on_get_prompt=serving.get_prompt,
            on_list_tools=self._listed(serving.list_tools),
            on_call_tool=serving.call_tool,
            on_list_resources=self._listed(serving.list_resources),
            on_read_resource=serving.read_resource,
            on_subscriptions_listen=ListenHandler(self._bus),
        )
        add_skills(self.server, serving)

    @property
    def options(self) -> InitializationOptions:
        """What a client with a handshake is told of the server."""
        news = NotificationOptions(prompts_changed=True, tools_changed=True, resources_changed=True)
        return self.server.create_initialization_options(news)

    async def show(self, engine: Engine, packages: Sequence[SkillPackage] = ()) -> None:
        """Answer with this agent from here on, and tell clients of each list that is another one now."""
        before = await self._lists()
        self._serving.engine, self._serving.packages = engine, by_uri(engine, packages)
        for old, new, event, send in zip(before, await self._lists(), _EVENTS, _SENDERS, strict=True):
            if old != new:
                await self._bus.publish(event)
                if self._session:
                    await send(self._session)

    async def _lists(self) -> tuple[BaseModel, ...]:
        serving = self._serving
        return (
            await serving.list_prompts(None, None),
            await serving.list_tools(None, None),
            await serving.list_resources(None, None),
        )

    def _listed(self, handler: _Handler) -> _Handler:
        """The handler, which remembers who has a list: nobody else can hold an old one."""

        async def noted(context: Any, params: Any) -> Any:
            self._session = context.session
            return await handler(context, params)

        return noted
