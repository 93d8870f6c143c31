"""An agent as an MCP server."""

from __future__ import annotations

import base64
import json
import mimetypes
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pydantic import BaseModel

from cuecard.adapters.clients import needs

with needs("mcp", "mcp", __name__):
    from mcp.server import NotificationOptions, Server
    from mcp.server.models import InitializationOptions
    from mcp.server.session import ServerSession
    from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
    from mcp.shared.exceptions import MCPError
    from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ServerEvent, ToolsListChanged
    from mcp.types import (
        INVALID_PARAMS,
        BlobResourceContents,
        CacheableResult,
        CallToolRequestParams,
        CallToolResult,
        GetPromptRequestParams,
        GetPromptResult,
        ListPromptsResult,
        ListResourcesResult,
        ListToolsResult,
        PaginatedRequestParams,
        PaginatedResult,
        Prompt,
        PromptArgument,
        PromptMessage,
        ReadResourceRequestParams,
        ReadResourceResult,
        RequestParams,
        Resource,
        TextContent,
        TextResourceContents,
        Tool,
    )

from cuecard.config.skills.packages import MAIN, SkillPackage
from cuecard.config.tools_spec import CUES, META_KEY
from cuecard.engine import Engine
from cuecard.errors import CuecardError, InputError, Problem
from cuecard.model import Json, ToolResult, Turn

EXTENSION: Final = "io.modelcontextprotocol/skills"
"""The extension of MCP by which skills are listed, with the SHA-256 of each of their files."""

_OWN = ("discovered", "profile", "variant")
"""Arguments of the prompt that are no inputs of the agent."""


class _GetSkillParams(RequestParams):
    uri: str


class _ListSkillsResult(PaginatedResult, CacheableResult):
    skills: list[dict[str, Any]]
    result_type: str = "complete"


class _GetSkillResult(CacheableResult):
    skill: dict[str, Any]
    result_type: str = "complete"


def agent_server(engine: Engine, packages: Sequence[SkillPackage] = (), version: str = "") -> Server[Any]:
    """A server for any MCP client; run it with the transports of the package `mcp`.

    Args:
        engine: the agent.
        packages: its skills.
        version: the version that the server reports.
    """
    serving = McpAnswers(engine, by_uri(engine, packages))
    server: Server[Any] = Server(
        engine.name,
        version=version,
        on_list_prompts=serving.list_prompts,
        on_get_prompt=serving.get_prompt,
        on_list_tools=serving.list_tools,
        on_call_tool=serving.call_tool,
        on_list_resources=serving.list_resources,
        on_read_resource=serving.read_resource,
    )
    if packages:
        add_skills(server, serving)
    return server


def by_uri(engine: Engine, packages: Sequence[SkillPackage]) -> dict[str, SkillPackage]:
    """The skills of an agent, by the addresses under which they are served."""
    return {package.uri(engine.name): package for package in packages}


def add_skills(server: Server[Any], serving: McpAnswers) -> None:
    """Let a server answer what MCP's extension for skills asks."""
    server.add_request_handler("skills/list", PaginatedRequestParams, serving.list_skills)
    server.add_request_handler("skills/get", _GetSkillParams, serving.get_skill)
    server.extensions[EXTENSION] = {}


@dataclass(slots=True)
class McpAnswers:
    """What the requests of MCP's clients are answered with.

    Attributes:
        engine: the agent.
        packages: its skills, by address.
    """

    engine: Engine
    packages: Mapping[str, SkillPackage]

    async def list_prompts(self, _context: Any, _params: Any) -> ListPromptsResult:
        """The agent's one prompt, with its inputs as arguments."""
        engine = self.engine
        told = {
            "discovered": ("names of the tools whose instructions to include, separated by commas", bool(engine.tools)),
            "profile": (f"one of {', '.join(engine.profiles)}", bool(engine.profiles)),
            "variant": (f"one of {', '.join(engine.variants)}", bool(engine.variants)),
        }
        arguments = [
            PromptArgument(name=name, description=spec.description or spec.type, required=spec.required)
            for name, spec in engine.inputs.items()
        ]
        arguments += [
            PromptArgument(name=name, description=text, required=False)
            for name, (text, there) in told.items()
            if there and name not in engine.inputs
        ]
        description = f"The system prompt of the agent {engine.name}"
        return ListPromptsResult(prompts=[Prompt(name=engine.name, description=description, arguments=arguments)])

    async def get_prompt(self, _context: Any, params: GetPromptRequestParams) -> GetPromptResult:
        """The system prompt as a message: MCP has no role for it."""
        if params.name != self.engine.name:
            raise MCPError(INVALID_PARAMS, f"there is no prompt `{params.name}`; there is `{self.engine.name}`")
        try:
            text = self._rendered(dict(params.arguments or {}))
        except CuecardError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        message = PromptMessage(role="user", content=TextContent(type="text", text=text))
        return GetPromptResult(description=f"The system prompt of {self.engine.name}", messages=[message])

    def _rendered(self, arguments: dict[str, str]) -> str:
        engine = self.engine
        own = {name: arguments.pop(name, "") for name in _OWN if name not in engine.inputs}
        names = [name.strip() for name in own.get("discovered", "").split(",") if name.strip()]
        if unknown := [name for name in names if name not in engine.tools]:
            raise InputError(
                Problem("unknown-tool", f"`{n}` is not a tool of this agent", "", "discovered") for n in unknown
            )
        inputs = {name: self._value(name, text) for name, text in arguments.items()}
        profile, variant = own.get("profile", ""), own.get("variant", "")
        call = engine.prepare_call(Turn(inputs, profile=profile, variant=variant, delivery="rewrite"))
        found = [ToolResult(engine.search_tool, {"tools": names}, "found")]
        return engine.prepare_step(call, found).system

    def _value(self, name: str, text: str) -> Json:
        """An argument, which MCP has as a text only, as the type that the agent file declares."""
        spec = self.engine.inputs.get(name)
        if spec is None or spec.type == "string":
            return text
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            hint = "write it as JSON"
            raise InputError(
                Problem("wrong-input", f"`{name}` is not of type {spec.type}", hint, "arguments")
            ) from None

    async def list_tools(self, _context: Any, _params: Any) -> ListToolsResult:
        """The search tool, if there is something to find."""
        engine, words = self.engine, self.engine.words.search
        if not engine.agent.searched:
            return ListToolsResult(tools=[])
        card = engine.tools.get(engine.search_tool)
        schema = {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": words.query_description},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": words.limit_description},
            },
            "required": ["query"],
        }
        said = (card.description if card else "") or words.description
        return ListToolsResult(tools=[Tool(name=engine.search_tool, description=said, input_schema=schema)])

    async def call_tool(self, _context: Any, params: CallToolRequestParams) -> CallToolResult:
        """What the search finds, and the instructions of these tools behind it."""
        if params.name != self.engine.search_tool or not self.engine.agent.searched:
            raise MCPError(INVALID_PARAMS, f"there is no tool `{params.name}`")
        given = params.arguments or {}
        try:
            found = self.engine.search_tools(given.get("query", ""), given.get("limit"))
        except InputError as error:
            return CallToolResult(content=[TextContent(type="text", text=str(error))], is_error=True)
        answer = found.to_json()
        told = self._told(found.tools)
        texts = [json.dumps(answer, ensure_ascii=False), *([told] if told else [])]
        meta = {name: cues for name in found.tools if (cues := self._cues(name))}
        return CallToolResult(
            content=[TextContent(type="text", text=text) for text in texts],
            structured_content=answer,
            **({"_meta": {META_KEY: meta}} if meta else {}),
        )

    def _told(self, names: Sequence[str]) -> str:
        """The instructions of these tools, in the block in which they reach a model that has this agent's prompt."""
        known = [name for name in names if name in self.engine.instructions]
        if not known:
            return ""
        try:
            call = self.engine.prepare_call(Turn(delivery="append"))
        except CuecardError:  # an input that only a host can supply
            return "\n".join(self.engine.instructions[name].strip() for name in known)
        step = self.engine.prepare_step(call, [ToolResult(self.engine.search_tool, {"tools": known}, "found")])
        return "".join(block.text for block in step.appended if block.after_call_id)

    def _cues(self, name: str) -> dict[str, Json]:
        """A tool's instructions as data, as `cuecard tools import` reads them."""
        card = self.engine.tools[name]
        told = ((key, getattr(card.instructions, key, "")) for key in CUES)
        cues: dict[str, Json] = {key: text for key, text in told if text}
        return {**cues, "phrases": list(card.phrases)} if cues and card.phrases else cues

    async def list_resources(self, _context: Any, _params: Any) -> ListResourcesResult:
        """Every file of every skill."""
        owner = self.engine.name
        return ListResourcesResult(
            resources=[
                Resource(
                    uri=package.uri(owner, path),
                    name=f"{package.name}/{path}",
                    description=str(package.front["description"]) if path == MAIN else None,
                    mime_type=_kind(path),
                    size=len(data),
                )
                for package in self.packages.values()
                for path, data in package.files.items()
            ]
        )

    async def read_resource(self, _context: Any, params: ReadResourceRequestParams) -> ReadResourceResult:
        """A file of a skill: a text if it is one, else its bytes."""
        uri, owner = str(params.uri), self.engine.name
        for package in self.packages.values():
            for path, data in package.files.items():
                if package.uri(owner, path) == uri:
                    return ReadResourceResult(contents=[_contents(uri, path, data)])
        raise MCPError(INVALID_PARAMS, f"there is no resource `{uri}`")

    async def list_skills(self, _context: Any, _params: PaginatedRequestParams) -> _ListSkillsResult:
        """Every skill, with the digest of each of its files."""
        return _ListSkillsResult(skills=[package.entry(self.engine.name) for package in self.packages.values()])

    async def get_skill(self, _context: Any, params: _GetSkillParams) -> _GetSkillResult:
        """One skill."""
        if package := self.packages.get(params.uri):
            return _GetSkillResult(skill=package.entry(self.engine.name))
        raise MCPError(INVALID_PARAMS, f"there is no skill `{params.uri}`")


def _contents(uri: str, path: str, data: bytes) -> TextResourceContents | BlobResourceContents:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return BlobResourceContents(uri=uri, mime_type=_kind(path), blob=base64.b64encode(data).decode())
    return TextResourceContents(uri=uri, mime_type=_kind(path), text=text)


def _kind(path: str) -> str:
    return "text/markdown" if path.endswith(".md") else mimetypes.guess_type(path)[0] or "application/octet-stream"


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
        self._serving = serving = McpAnswers(engine, by_uri(engine, packages))
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
