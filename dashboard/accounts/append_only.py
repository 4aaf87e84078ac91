"""Database triggers that refuse every update or delete of an audit row, also outside the ORM.

A migration that makes SQLite rebuild the table drops the triggers: it must call `protect` again.
"""

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TABLE = "dashboard_auditentry"
REFUSAL = "audit entries are never changed or deleted"

PROTECT = {
    "sqlite": [
        f"CREATE TRIGGER {TABLE}_{verb} BEFORE {verb} ON {TABLE} "
        f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        for verb in ("update", "delete")
    ],
    "postgresql": [
        f"CREATE OR REPLACE FUNCTION {TABLE}_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$",
        f"CREATE TRIGGER {TABLE}_change BEFORE UPDATE OR DELETE ON {TABLE} "
        f"FOR EACH ROW EXECUTE FUNCTION {TABLE}_refuse()",
        f"CREATE TRIGGER {TABLE}_truncate BEFORE TRUNCATE ON {TABLE} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {TABLE}_refuse()",
    ],
}
UNPROTECT = {
    "sqlite": [f"DROP TRIGGER IF EXISTS {TABLE}_{verb}" for verb in ("update", "delete")],
    "postgresql": [f"DROP FUNCTION IF EXISTS {TABLE}_refuse() CASCADE"],
}


def protect(editor: BaseDatabaseSchemaEditor) -> None:
    for statement in PROTECT[editor.connection.vendor]:
        editor.execute(statement)


def unprotect(editor: BaseDatabaseSchemaEditor) -> None:
    for statement in UNPROTECT[editor.connection.vendor]:
        editor.execute(statement)
