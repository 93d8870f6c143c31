"""The tables of a library, which the migrations make."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

REVISION = "0001"
"""The newest migration, by which a library knows whether it can be used."""

REVISIONS = "cuecard_library_revision"
"""The table in which Alembic notes the migration that was run last; a host's own migrations have another."""

TABLES = MetaData()

AGENTS = Table(
    "cuecard_agents",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
)
"""The agents. The row of one is the lock of whoever writes its versions and labels."""

VERSIONS = Table(
    "cuecard_versions",
    TABLES,
    Column("agent", Integer, ForeignKey("cuecard_agents.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("sha256", String(64), nullable=False),
    Column("configuration", String(64), nullable=False),
    Column("author", Text, nullable=False),
    Column("created", String(32), nullable=False),
    Column("message", Text, nullable=False),
    Column("parent", Integer),
    Column("content", Text, nullable=False),
    UniqueConstraint("agent", "sha256"),
    Index("cuecard_versions_configuration", "configuration"),
)
"""Versions, which never change: the whole content is one value of one row, so that none is ever half there."""

LABELS = Table(
    "cuecard_labels",
    TABLES,
    Column("agent", Integer, ForeignKey("cuecard_agents.id"), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("number", Integer, nullable=False),
    ForeignKeyConstraint(["agent", "number"], ["cuecard_versions.agent", "cuecard_versions.number"]),
)
"""Where each label points."""

AUDIT = Table(
    "cuecard_audit",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("agent", Integer, ForeignKey("cuecard_agents.id"), nullable=False, index=True),
    Column("at", String(32), nullable=False),
    Column("author", Text, nullable=False),
    Column("action", String(16), nullable=False),
    Column("label", String(64), nullable=False),
    Column("before", Integer),
    Column("after", Integer),
    Column("message", Text, nullable=False),
)
"""Every move of a label: who, when, from where to where."""
