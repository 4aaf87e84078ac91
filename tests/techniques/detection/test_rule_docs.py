from pathlib import Path
from xml.etree import ElementTree

import pytest

from techniques.detection import RULES

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.parametrize("kind", RULES)
def test_every_rule_is_explained_with_its_picture(kind: str) -> None:
    picture = f"images/rules/{kind}.svg"
    assert picture in (DOCS / "detection.md").read_text()
    drawn = ElementTree.parse(DOCS / picture).getroot()
    assert drawn.tag.endswith("svg")
    assert "prefers-color-scheme: dark" in (DOCS / picture).read_text()
