"""The first tables of a library: agents, versions, labels and the audit trail."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "cuecard_agents",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(64), nullable=False, unique=True),
    )
    op.create_table(
        "cuecard_versions",
        sa.Column("agent", sa.Integer, sa.ForeignKey("cuecard_agents.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("configuration", sa.String(64), nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("parent", sa.Integer),
        sa.Column("content", sa.Text, nullable=False),
        sa.UniqueConstraint("agent", "sha256"),
    )
    op.create_index("cuecard_versions_configuration", "cuecard_versions", ["configuration"])
    op.create_table(
        "cuecard_labels",
        sa.Column("agent", sa.Integer, sa.ForeignKey("cuecard_agents.id"), primary_key=True),
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.ForeignKeyConstraint(["agent", "number"], ["cuecard_versions.agent", "cuecard_versions.number"]),
    )
    op.create_table(
        "cuecard_audit",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("agent", sa.Integer, sa.ForeignKey("cuecard_agents.id"), nullable=False, index=True),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("label", sa.String(64), nullable=False),
        sa.Column("before", sa.Integer),
        sa.Column("after", sa.Integer),
        sa.Column("message", sa.Text, nullable=False),
    )
