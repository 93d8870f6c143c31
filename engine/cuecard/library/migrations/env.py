"""Runs the migrations on the connection that `Database.upgrade` hands over; Alembic imports this by its path."""

from __future__ import annotations

from alembic import context

from cuecard.library.tables import REVISIONS, TABLES

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=TABLES,
    version_table=REVISIONS,
)
with context.begin_transaction():
    context.run_migrations()
