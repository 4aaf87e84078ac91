"""Django settings. What differs between installations comes from `dashboard.environment`."""

import sys
from pathlib import Path

import plotly

from dashboard import environment
from dashboard.masking import masked

try:
    ENVIRONMENT = environment.read()
except environment.EnvironmentFault as fault:
    print(f"curtail: {masked(str(fault))}", file=sys.stderr)
    raise SystemExit(2) from None

SECRET_KEY = ENVIRONMENT.secret_key
DEBUG = ENVIRONMENT.debug
ALLOWED_HOSTS = list(ENVIRONMENT.allowed_hosts)
CSRF_TRUSTED_ORIGINS = list(ENVIRONMENT.trusted_origins)

INSTALLED_APPS = [
    "channels",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "ninja",
    "dashboard.apps.DashboardConfig",
]
MIDDLEWARE = [
    "dashboard.api.edge.problems_under_api",
    "dashboard.web.security_headers.security_headers",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dashboard.web.login_required.LoginRequired",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "dashboard.urls"
ASGI_APPLICATION = "dashboard.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [environment.ROOT / "frontend" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dashboard.web.context.role",
            ]
        },
    }
]

DATABASES = {"default": ENVIRONMENT.database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "jobs"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
# With TLS in front, cookies never travel without it.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENVIRONMENT.behind_tls
# Pages have the token in a form, so no script needs the cookie.
CSRF_COOKIE_HTTPONLY = True
# Also of what `dashboard.web.body_limits` lets in at the door.
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024

REDIS_URL = ENVIRONMENT.redis_url
STORE = "dashboard.store.redis.RedisStore"
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {
            # The layer waits 5 s for a message, which is also redis-py's default patience.
            "hosts": [{"address": REDIS_URL, "socket_timeout": 30}],
            "prefix": "curtail:asgi",
        },
    }
}

# Packages of techniques beside those of techniques/.
TECHNIQUES = ENVIRONMENT.techniques
# Where people reach this dashboard, and where its webhooks may go besides the public internet.
PUBLIC_URL = ENVIRONMENT.public_url
WEBHOOK_ALLOWED_NETWORKS = ENVIRONMENT.webhook_allowed_networks
RECORD_RETENTION_DAYS = ENVIRONMENT.record_retention_days
# Where windows are kept when Redis has trimmed them (None: nowhere), for how long, and how the
# storage is reached.
ARCHIVE = ENVIRONMENT.archive
ARCHIVE_DAYS = ENVIRONMENT.archive_days
ARCHIVE_OPTIONS = ENVIRONMENT.archive_options

LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
# Plotly's script comes from the installed wheel: no CDN, nothing vendored by hand.
PLOTLY_SCRIPT_DIR = Path(plotly.__file__).parent / "package_data"
STATICFILES_DIRS = [environment.ROOT / "frontend" / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "dashboard.web.plotly_finder.PlotlyFinder",
]
# Served straight from these folders: there is no collectstatic step that could be forgotten.
STATIC_ROOT = None
WHITENOISE_USE_FINDERS = True

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    # A task a second would be three lines a second; py4j tells of every connection.
    # httpx tells of every request with its whole address, which for many receivers is the secret.
    "loggers": {name: {"level": "WARNING"} for name in ("celery", "py4j", "httpx", "httpcore")},
}
