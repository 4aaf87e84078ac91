"""Closes WebSockets whose login has ended: a socket may stay open for days."""

import asyncio
import logging

from channels.auth import get_user
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import DatabaseError
from django.utils.module_loading import import_string

log = logging.getLogger(__name__)

NOT_LOGGED_IN = 4401
ASK_EVERY_S = 30.0


def is_logged_in(consumer: AsyncWebsocketConsumer) -> bool:
    user = consumer.scope["user"]
    return user is not None and user.is_authenticated


async def end_with_the_login(consumer: AsyncWebsocketConsumer) -> None:
    """Closes the socket when its user logs out, is disabled or gets a new password."""
    logged_in = True
    while logged_in:
        await asyncio.sleep(ASK_EVERY_S)
        logged_in = await _still_logged_in(consumer.scope["session"].session_key)
    await consumer.close(NOT_LOGGED_IN)


async def _still_logged_in(session_key: str | None) -> bool:
    # Load the session again: the socket's own was read when it opened and is never refreshed.
    session = import_string(f"{settings.SESSION_ENGINE}.SessionStore")(session_key)
    try:
        user: AbstractBaseUser | AnonymousUser = await get_user({"session": session})  # type: ignore[typeddict-item]
    except DatabaseError as error:
        log.warning("logins cannot be asked for now: %s", error)
        return True
    return user.is_authenticated
