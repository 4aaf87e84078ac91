import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction

from dashboard.accounts import audit
from dashboard.accounts.append_only import TABLE
from dashboard.models import AppendOnly, AuditEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def entry() -> AuditEntry:
    return audit.record("nadia", "slo.changed", "orders", "orders.scored", {"p99_ms": 1}, None)


def test_an_entry_says_who_what_when_and_why(entry: AuditEntry) -> None:
    found = AuditEntry.objects.get()
    assert (found.who, found.action, found.job) == ("nadia", "slo.changed", "orders.scored")
    assert (found.before, found.after) == ({"p99_ms": 1}, None)
    assert found.at_ms > 1_700_000_000_000


def test_the_orm_neither_changes_nor_deletes_an_entry(entry: AuditEntry) -> None:
    for attempt in (
        entry.save,
        entry.delete,
        AuditEntry.objects.all().delete,
        lambda: AuditEntry.objects.update(who="eve"),
        lambda: AuditEntry.objects.bulk_update([entry], ["who"]),
    ):
        with pytest.raises(AppendOnly):
            attempt()


@pytest.mark.parametrize("statement", [f"UPDATE {TABLE} SET who = 'eve'", f"DELETE FROM {TABLE}"])
def test_the_database_refuses_it_too(entry: AuditEntry, statement: str) -> None:
    with (
        pytest.raises(DatabaseError, match="never changed or deleted"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert AuditEntry.objects.get().who == "nadia"


def test_entries_outlive_the_user_they_tell_of() -> None:
    user = User.objects.create_user("eve")
    audit.record(user.username, "slo.changed", "orders")
    user.delete()
    assert AuditEntry.objects.get().who == "eve"


def test_what_is_too_long_is_cut_and_not_refused() -> None:
    made = audit.record("n" * 300, "slo.changed", "s" * 300, reason="r" * 600)
    assert (len(made.who), len(made.subject), len(made.reason)) == (200, 200, 500)
