from django.contrib.auth import views as auth
from django.urls import path

from dashboard import pages
from dashboard.api import api
from dashboard.api.metrics import scrape_at_root

urlpatterns = [
    path("", pages.jobs, name="jobs"),
    path("jobs/<str:job_id>", pages.job, name="job"),
    path("login", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout", auth.LogoutView.as_view(), name="logout"),
    path("metrics", scrape_at_root, name="metrics"),
    path("api/v1/", api.urls),
]
