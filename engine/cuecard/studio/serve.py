"""`cuecard studio`: prompts in the browser."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from cuecard.errors import visible
from cuecard.records import dataclass
from cuecard.workbench.output import require

_NEEDS = {"starlette": "starlette", "uvicorn": "uvicorn", "jinja2": "jinja2"}


@dataclass(frozen=True, slots=True)
class StudioOptions:
    """The options of the command."""

    host: str
    port: int
    browser: bool
    records: Path | None
    editor: str
    allow_code: bool


def studio(agents: Sequence[Path], options: StudioOptions) -> int:
    """Show agents in the browser until the process is told to stop; the exit code is 0.

    Raises:
        InputError: when a package, an agent or the port is missing, or an option is wrong.
    """
    require("cuecard studio", "studio", _NEEDS)
    from cuecard.server.door import is_loopback, listen
    from cuecard.studio.agents import AgentFolders
    from cuecard.studio.app import Studio
    from cuecard.studio.home import Home
    from cuecard.studio.news import TabNews
    from cuecard.studio.problems import EDITOR, check_editor
    from cuecard.studio.process import run_app
    from cuecard.studio.runs import Runs, places_near, samples
    from cuecard.studio.screen import AddressBook
    from cuecard.studio.security import Keys

    editor = check_editor(options.editor or EDITOR)
    news, home = TabNews(), Home(Path.cwd() / ".cuecard" / "studio")
    shown = AgentFolders(agents, lambda name: news.tell("files", agent=name), allow_code=options.allow_code)
    named, near = ([options.records], ()) if options.records else ([], places_near(shown.paths))
    runs, stop = Runs(named, near=near, samples=samples()), Event()
    with listen(options.host, options.port) as listening, suppress(KeyboardInterrupt):
        port = listening.getsockname()[1]
        keys = Keys(home.token(), port)
        made = Studio(AddressBook(shown, runs, home, editor, news), keys)
        app = made.app(local=is_loopback(options.host))
        place = f"http://{_named(options.host)}:{port}/?token="

        def begin() -> None:
            print(f"cuecard studio: {place}{keys.token}", flush=True)
            print(f"shows {', '.join(map(visible, shown.paths))}; stop with Ctrl-C", flush=True)
            if home.unkept:
                print(f"nothing is kept in {visible(str(home.folder))}: {home.unkept}", flush=True)
            Thread(target=runs.follow, args=(lambda kind, facts: news.tell(kind, **facts), stop), daemon=True).start()
            if options.browser:
                webbrowser.open(place + keys.ticket())
            made.warm()

        try:
            run_app(app, listening, news, begin)
        finally:
            stop.set()
            shown.stop()
    return 0


def _named(host: str) -> str:
    """The host as addresses write it; an address for all interfaces is reached at this machine."""
    if host in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not listened on
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
