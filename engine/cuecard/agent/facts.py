"""Facts about an agent for hosts, independent of its compiled form."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cuecard.agent.agent import Agent
from cuecard.config.agent_file import InputSpec
from cuecard.config.words_spec import WordsSpec
from cuecard.errors import Problem
from cuecard.model import Cut, ReloadPolicy, ToolCard


class AgentFacts:
    """Facts about an agent from its files."""

    agent: Agent

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.agent.spec.agent

    @property
    def sha256(self) -> str:
        """The fingerprint of all of the agent's files, in hex; `configuration.sha256` of calls."""
        return self.agent.sha256

    @property
    def tools(self) -> Mapping[str, ToolCard]:
        """The catalogue: every tool the agent could use, by name."""
        return self.agent.catalogue

    @property
    def tool_cuts(self) -> tuple[Cut, ...]:
        """What `with_tools` left out or truncated in a tool server's declarations, with reasons."""
        return self.agent.tool_cuts

    @property
    def core_tools(self) -> tuple[str, ...]:
        """The names of the tools that are active from the first step on."""
        return self.agent.core

    @property
    def search_tool(self) -> str:
        """The name of the search tool: its results, and no others, discover tools."""
        return self.agent.search_tool

    @property
    def instructions(self) -> Mapping[str, str]:
        """The instructions of each tool that has any, as a prompt shows them, by tool name."""
        return MappingProxyType({name: protocol.text for name, protocol in self.agent.protocols.items()})

    @property
    def inputs(self) -> Mapping[str, InputSpec]:
        """The inputs that a turn supplies, by name: `type`, `default`, `required`, `trust` and `description`."""
        return MappingProxyType(self.agent.spec.inputs)

    @property
    def profiles(self) -> tuple[str, ...]:
        """The valid values of `Turn.profile`."""
        return tuple(self.agent.spec.profiles)

    @property
    def variants(self) -> tuple[str, ...]:
        """The valid values of `Turn.variant`."""
        return tuple(self.agent.spec.variants)

    @property
    def sections(self) -> tuple[str, ...]:
        """The ids of the sections of a call without profile and variant, in order."""
        return tuple(section.id for section in self.agent.sections)

    @property
    def words(self) -> WordsSpec:
        """The texts that the engine itself sends to the model: `words` in the agent file."""
        return self.agent.spec.words

    @property
    def encoding(self) -> str:
        """The name of the encoding used to count tokens."""
        return self.agent.spec.tokens.encoding

    @property
    def reload(self) -> ReloadPolicy:
        """When changes of watched files reach a conversation."""
        return self.agent.spec.reload

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The warnings from checking the files."""
        return self.agent.warnings
