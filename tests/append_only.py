"""Between tests the database is emptied, which the audit's triggers refuse, as they should."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.db.backends.base.operations import BaseDatabaseOperations

from dashboard.accounts import append_only


@contextmanager
def unprotected_while_emptied() -> Iterator[None]:
    """Takes the triggers off for the flush alone, so that every test has them."""
    execute = BaseDatabaseOperations.execute_sql_flush

    def emptied(self: BaseDatabaseOperations, *args: Any, **options: Any) -> None:
        with connection.schema_editor() as editor:
            append_only.unprotect(editor)
        execute(self, *args, **options)
        with connection.schema_editor() as editor:
            append_only.protect(editor)

    BaseDatabaseOperations.execute_sql_flush = emptied  # type: ignore[method-assign]
    try:
        yield
    finally:
        BaseDatabaseOperations.execute_sql_flush = execute  # type: ignore[method-assign]
