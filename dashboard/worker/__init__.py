"""What the Celery worker keeps between its rounds."""
