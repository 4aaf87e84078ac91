from functools import cache

from django.conf import settings

from techniques.registry import Registry


@cache
def registry() -> Registry:
    """The techniques of this process; CURTAIL_TECHNIQUES names further packages."""
    return Registry(settings.TECHNIQUES)
