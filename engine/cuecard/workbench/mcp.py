"""`cuecard mcp`: an agent for any MCP client, over standard input and output."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cuecard
from cuecard.agent.agent import usable_skills_of
from cuecard.config.skills.packages import SkillPackage, tool_skills
from cuecard.engine import Engine
from cuecard.errors import Problem, most_telling
from cuecard.files.content import find_content
from cuecard.files.folder import folder_of
from cuecard.files.settings import read_settings
from cuecard.files.skill_packages import read_packages
from cuecard.model import Turn
from cuecard.reload.engines import watch
from cuecard.reload.keeper import Status
from cuecard.reload.watcher import Watcher
from cuecard.workbench.output import require


def serve_over_mcp(agent: Path, *, allow_code: bool) -> None:
    """Serve until the client closes the connection, following changes of the files and serving the last good state.

    Raises:
        SpecError: with every problem of the agent's files, when no good state is known.
        InputError: when the package `mcp` is not installed.
    """
    require("cuecard mcp", "mcp", {"mcp": "mcp"})
    import anyio

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # as SIGTERM: asyncio would wait until somebody reads the answers
    settings = read_settings()
    following = watch(
        find_content(agent),
        delivery=settings.delivery,
        salt=settings.salt,
        states=settings.states,
        allow_code=allow_code,
        cache=settings.cache_folder,
    )
    with following as watcher:
        anyio.run(_serve, watcher, agent)


async def _serve(watcher: Watcher[Engine], agent: Path) -> None:
    from cuecard.adapters.mcp_stdio import standard_streams

    async with standard_streams() as streams:
        await serve_client(watcher, agent, *streams)


async def serve_client(watcher: Watcher[Engine], agent: Path, reads: Any, writes: Any) -> None:
    """Serve the client at the other end of two streams until it closes them."""
    import anyio

    from cuecard.adapters.mcp_server import FollowingServer

    engine = watcher.current
    _tell_refused(watcher.status)
    served = FollowingServer(engine, packages_of(engine, agent), cuecard.__version__)

    async def follow() -> None:
        async for newer, status in watcher:
            _tell_refused(status)
            await served.show(newer, packages_of(newer, agent))

    async with anyio.create_task_group() as group:
        group.start_soon(follow)
        await served.server.run(reads, writes, served.options)
        group.cancel_scope.cancel()


def _tell_refused(status: Status) -> None:
    """Report on stderr that the files differ from what is served."""
    if status.refused or status.restored:
        sys.stderr.write(f"{status}\n")


def packages_of(engine: Engine, agent: Path) -> tuple[SkillPackage, ...]:
    """The served skills: the agent's own, and the instructions of its tools; others are reported on stderr."""
    own, problems = read_packages(usable_skills_of(engine.agent, Turn()), folder_of(find_content(agent)))
    tell(problems)
    names = {package.name for package in own}
    made = tool_skills(engine.name, tuple(engine.tools.values()), engine.instructions)
    return (*own, *(package for package in made if package.name not in names))


def tell(problems: Iterable[Problem]) -> None:
    """Report what was left out on stderr, since standard output belongs to the client."""
    told, more = most_telling(problems)
    sys.stderr.write(
        "".join(f"{problem.picture()}\n" for problem in told) + (f"... and {more:,} more\n" if more else "")
    )
