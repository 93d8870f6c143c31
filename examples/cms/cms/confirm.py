"""Deeds that cannot be undone take three steps: ask, wait for the user's yes, do it."""

from __future__ import annotations

from cms.database import Database, Json
from cms.errors import ValidationError

_ASK_FIRST = "Call the tool without `confirmed`, show its message to the user, and wait for a yes."


def question(db: Database, action: str, message: str, *, confirmed: bool) -> Json | None:
    """None when the user has said yes to exactly this question; else the question to pass on to the user.

    A yes is good for one deed: the question is forgotten with it. It is also void when the question would read
    differently by now, so that nobody agrees to more than they were told.

    Raises:
        ValidationError: `confirmed` was set although this question was never asked.
    """
    if not confirmed:
        db.run("INSERT OR REPLACE INTO confirmations VALUES (?, ?, ?)", action, message, db.now())
        return {"requiresConfirmation": True, "message": message}
    asked = db.row("SELECT message FROM confirmations WHERE action = ?", action)
    if asked is None:
        raise ValidationError("The user has not been asked about this.", _ASK_FIRST)
    if asked["message"] != message:
        raise ValidationError("The site has changed since the user was asked about this.", _ASK_FIRST)
    db.run("DELETE FROM confirmations WHERE action = ?", action)
    return None
