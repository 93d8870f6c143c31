"""The options of `cuecard serve`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final

from cuecard.cli.options import SWITCH_INTERVAL, AllowCode, DeliveryOption
from cuecard.cli.signatures import Argument, Option

MONTH: Final = 30 * 24 * 60 * 60.0
"""Seconds."""


def serve(
    agents: Annotated[list[Path], Argument(metavar="AGENT...", help="Agent files, folders, or shipped names.")],
    host: Annotated[str, Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(least=0, most=65535, help="The port; 0 for any free one.")] = 8765,
    no_token: Annotated[bool, Option(help="Let anyone who can reach the port use the service.")] = False,
    delivery: DeliveryOption = None,
    states: Annotated[Path | None, Option(metavar="DIR", help="The folder for good states.")] = None,
    max_body: Annotated[int, Option(metavar="BYTES", help="The largest request body in bytes.")] = 1024 * 1024,
    max_requests: Annotated[int, Option(metavar="N", help="How many requests are handled at once.")] = 128,
    max_connections: Annotated[int, Option(metavar="N", help="How many connections are open at once.")] = 1024,
    max_per_address: Annotated[int, Option(metavar="N", help="How many of them are from one address.")] = 512,
    timeout: Annotated[
        float, Option(metavar="SECONDS", help="Timeout for receiving a request, and for answering it.")
    ] = 10.0,
    max_age: Annotated[float, Option(metavar="SECONDS", help="Conversations idle for longer are rejected.")] = MONTH,
    grace: Annotated[float, Option(metavar="SECONDS", help="How long to go on answering when told to stop.")] = 10.0,
    allow_code: AllowCode = False,
) -> int:
    """Serve agents over HTTP, for hosts in any language."""
    from cuecard.cli.serve import Limits, Place
    from cuecard.cli.serve import serve as command

    sys.setswitchinterval(SWITCH_INTERVAL)
    limits = Limits(max_body, max_requests, max_connections, max_per_address, timeout, max_age, grace)
    return command(agents, Place(host, port, no_token), limits, delivery=delivery, states=states, allow_code=allow_code)
