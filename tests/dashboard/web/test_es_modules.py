import re
from pathlib import Path, PurePosixPath
from posixpath import normpath

import pytest
from django.conf import settings
from django.template import Context, Template

from dashboard.web.es_modules import needed_by

FOLDER = Path(settings.STATICFILES_DIRS[0])
PAGES = sorted((FOLDER.parent / "templates").rglob("*.html"))


def test_all_that_a_page_imports_is_named_and_nothing_else() -> None:
    needed = needed_by("curtail/js/job/job.js")
    assert len(needed) == len(set(needed)) > 30
    assert "curtail/js/job/job.js" not in needed
    # Found by words alone, in every module that is needed.
    said = {
        normpath(PurePosixPath(module).parent / name)
        for module in ("curtail/js/job/job.js", *needed)
        for name in re.findall(r'from "(\..*)"', (FOLDER / module).read_text())
    }
    assert said == set(needed)


def test_a_module_is_named_before_those_that_only_it_needs() -> None:
    needed = needed_by("curtail/js/job/job.js")
    assert needed.index("curtail/js/chart/chart.js") < needed.index("curtail/js/chart/paint.js")


def test_a_page_links_its_modules_and_then_its_script() -> None:
    text = Template("{% load modules %}{% module 'curtail/js/people/audit.js' %}").render(Context())
    links = re.findall(r'rel="modulepreload" href="(.*?)"', text)
    assert "/static/curtail/js/core/dom.js" in links
    assert text.endswith('<script type="module" src="/static/curtail/js/people/audit.js"></script>')


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_names_its_modules_at_once(page: Path) -> None:
    # The header's is on every page, and all that it imports others import as well.
    assert re.findall(r'type="module" src="(.*?)"', page.read_text()) in (
        [],
        ["{% static 'curtail/js/core/header.js' %}"],
    )
