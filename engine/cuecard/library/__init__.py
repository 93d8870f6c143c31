"""A library of prompts: checked versions of whole agents in a database, with labels that move."""

from cuecard.errors import InputError, Problem

try:
    import alembic  # noqa: F401 - only to see whether they are there
    import psycopg  # noqa: F401 - the same
    import sqlalchemy  # noqa: F401 - the same
except ImportError as _error:
    _PROBLEM = Problem(
        "not-installed",
        f"a library needs {_error.name}, which is not installed",
        'run `pip install "cuecard[library]"`',
        "cuecard.library",
    )
    raise InputError(_PROBLEM) from _error
