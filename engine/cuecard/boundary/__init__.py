"""What enters by a public function is checked here, once: wrong values leave as one `InputError` with all problems.

Each function is called first thing at a door (`Engine`, a watcher, an adapter), and gives back what it was given, lists
as the tuples that are meant. Behind the doors nobody checks again.
"""

from cuecard.boundary.calls import admit_call, admit_memory, admit_results, admit_step, admit_turn
from cuecard.boundary.capability import check_capability, check_graph, check_run
from cuecard.boundary.conversations import (
    admit_entities,
    admit_more,
    admit_names,
    admit_state,
    admit_user,
    check_conversation,
    check_ids,
    check_kept,
    check_text,
)
from cuecard.boundary.opening import (
    check_callback,
    check_delivery,
    check_following,
    check_keeping,
    check_opening,
    check_serving,
    check_watching,
)
from cuecard.boundary.requests import admit_chat, admit_definitions, admit_request
from cuecard.boundary.results import admit_result
from cuecard.boundary.searches import admit_search, check_search
from cuecard.boundary.skills import check_reading
from cuecard.boundary.summaries import admit_summary
from cuecard.boundary.tools import admit_cards

__all__ = [
    "admit_call",
    "admit_cards",
    "admit_chat",
    "admit_definitions",
    "admit_entities",
    "admit_memory",
    "admit_more",
    "admit_names",
    "admit_request",
    "admit_result",
    "admit_results",
    "admit_search",
    "admit_state",
    "admit_step",
    "admit_summary",
    "admit_turn",
    "admit_user",
    "check_callback",
    "check_capability",
    "check_conversation",
    "check_delivery",
    "check_following",
    "check_graph",
    "check_ids",
    "check_keeping",
    "check_kept",
    "check_opening",
    "check_reading",
    "check_run",
    "check_search",
    "check_serving",
    "check_text",
    "check_watching",
]
