from collections.abc import Mapping
from functools import cache

from django.conf import settings

from techniques.model import Scalar, Technique
from techniques.options import checked
from techniques.registry import Registry


@cache
def registry() -> Registry:
    """The techniques of this process; CURTAIL_TECHNIQUES names further packages."""
    return Registry(settings.TECHNIQUES)


def options(technique: Technique, held: Mapping[str, object]) -> dict[str, Scalar]:
    """Converts stored options for the present version of the technique: drops options that it no
    longer has and adds new ones with their defaults."""
    names = {option.name for option in technique.options}
    return checked(technique.options, {name: held[name] for name in held if name in names})
