"""Which ES modules a module needs, found in their import lines.

A browser learns a module's imports only after loading it: for ours that takes four rounds of
requests, unless the page names all of them at once.
"""

import re
from functools import cache
from pathlib import Path, PurePosixPath
from posixpath import normpath

from django.contrib.staticfiles import finders

IMPORT = re.compile(r'^\s*(?:import|export)\b[^"\';]*["\'](\.[^"\']+)["\']', re.MULTILINE)


@cache
def needed_by(name: str) -> tuple[str, ...]:
    """All modules that the static file `name` imports, directly or not, nearest first."""
    found: list[str] = [name]
    for each in found:
        path = finders.find(each)
        assert isinstance(path, str), f"no static file {each}"
        folder = PurePosixPath(each).parent
        for imported in IMPORT.findall(Path(path).read_text()):
            if (other := normpath(folder / imported)) not in found:
                found.append(other)
    return tuple(found[1:])
