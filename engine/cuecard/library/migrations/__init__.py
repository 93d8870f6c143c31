"""The migrations of a library's database, run by Alembic."""
