"""The OpenAPI document, with the errors that every operation can answer with.

Ninja documents only what an operation returns; errors come from guards, limits and handlers.
"""

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from dashboard.api.problems import CONTENT_TYPE, TITLES, Problem

ALWAYS = (400, 401, 403, 429, 503)
RETRY_AFTER = {
    "Retry-After": {
        "description": "seconds after which to try again",
        "schema": {"type": "integer", "minimum": 1},
    }
}


class DocumentedAPI(NinjaAPI):
    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        document = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
        document_errors(document)
        return document


def document_errors(document: dict[str, Any]) -> None:
    components = document["components"]
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    components["schemas"].update(problem.pop("$defs"))
    components["schemas"]["Problem"] = problem
    components["responses"] = {_name(status): _response(status) for status in TITLES}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for status in sorted({*ALWAYS, *_of(path, method, operation)}):
                reference = {"$ref": f"#/components/responses/{_name(status)}"}
                # The operation's own response is more specific than the common one.
                if str(status) not in map(str, operation["responses"]):
                    operation["responses"][status] = reference


def _of(path: str, method: str, operation: dict[str, Any]) -> set[int]:
    statuses = set()
    if "{" in path:
        statuses.add(404)
    if method != "get":
        statuses |= {409, 413}
    return statuses


def _name(status: int) -> str:
    return TITLES[status].title().replace(" ", "")


def _response(status: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"$ref": "#/components/schemas/Problem"}
    if status == 409:
        current = {"description": "the resource as it is now"}
        schema = {"allOf": [schema, {"type": "object", "properties": {"current": current}}]}
    response = {"description": TITLES[status], "content": {CONTENT_TYPE: {"schema": schema}}}
    return {**response, "headers": RETRY_AFTER} if status == 429 else response
