from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard.web import es_modules

register = template.Library()


@register.simple_tag
def module(name: str) -> SafeString:
    """The script tag of an ES module, with preload tags for everything that it imports."""
    links = format_html_join(
        "\n  ",
        '<link rel="modulepreload" href="{}">',
        ((static(each),) for each in es_modules.needed_by(name)),
    )
    return format_html('{}\n  <script type="module" src="{}"></script>', links, static(name))
