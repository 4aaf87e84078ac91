"""Input types that more than one operation takes."""

from typing import Annotated

from ninja import Path, Query
from pydantic import Field, StringConstraints

# The largest id of the database; larger numbers are refused without a query.
RowId = Annotated[int, Path(ge=1, lt=2**63)]
# Comes in the query string of a DELETE, which has no body.
ReasonQuery = Annotated[str, Query(max_length=500, description="why, for the audit")]
Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=500),
    Field(description="why, for the audit"),
]
