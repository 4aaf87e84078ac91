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

# Only after Django is set up can modules with models be imported.
from dashboard.live.routes import routes  # noqa: E402
from dashboard.web.body_limits import LimitedBodies  # noqa: E402

# A range of windows is made ready in a thread of its own. What is answered meanwhile changes
# threads a few times, and would wait for its turn each time: 5 ms, which fifty scripts feel.
sys.setswitchinterval(0.0005)

application = ProtocolTypeRouter(
    {
        "http": LimitedBodies(pages, settings.DATA_UPLOAD_MAX_MEMORY_SIZE),
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(routes))),
    }
)
