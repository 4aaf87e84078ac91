"""The server: pages and API by Django, live data by Channels."""

import os
import sys

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
pages = get_asgi_application()

# Modules with models can be imported only after Django is set up.
from dashboard.live.routes import routes  # noqa: E402
from dashboard.web.body_limits import LimitedBodies  # noqa: E402

# Ranges of windows are prepared in a separate thread. Each other request switches threads a few
# times, and by default would wait 5 ms for the GIL each time: too long for a page of fifty scripts.
sys.setswitchinterval(0.0005)

application = ProtocolTypeRouter(
    {
        "http": LimitedBodies(pages, settings.DATA_UPLOAD_MAX_MEMORY_SIZE),
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(routes))),
    }
)
