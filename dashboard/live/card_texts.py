"""A job's technique cards as the message that its pages get: made once, for all of them."""

import json

from channels.db import database_sync_to_async

from dashboard.models import Job
from dashboard.steering import cards, computed
from dashboard.store import Store


async def text(store: Store, job_id: str) -> str:
    """The answer of `GET /api/v1/jobs/<id>/techniques` with a `type` for the WebSocket."""
    told = await computed.told(store, job_id)
    items = await _cards(job_id, told)
    return json.dumps({"type": "cards", "items": items})


@database_sync_to_async
def _cards(job_id: str, told: computed.Computed) -> list[dict[str, object]]:
    return cards.cards(Job(pk=job_id), told)
