"""The tree of `docs/architecture.md` is the tree that there is."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOPS = ("collectors", "dashboard", "techniques", "frontend")


def drawn() -> set[str]:
    """The folders of the picture: two spaces for each level."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    block = re.search(r"^## The tree\n```\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert block
    above: list[tuple[int, str]] = []
    found = set()
    for line in block[1].splitlines():
        match = re.match(r"( *)([\w/]+)/(?: |$)", line)
        if not match or line.startswith("docker/"):
            continue
        indent = len(match[1])
        above = [each for each in above if each[0] < indent]
        above.append((indent, match[2]))
        found.add("/".join(name for _, name in above))
    return {each for each in found if each.split("/")[0] in TOPS}


def there() -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", *TOPS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    folders = {str(Path(file).parent) for file in listed.stdout.splitlines()}
    return {str(each) for folder in folders for each in (Path(folder), *Path(folder).parents)} - {
        ".",
        "frontend/static",
    }


def test_the_tree_of_the_docs_is_the_tree_that_there_is() -> None:
    assert drawn() == there()
