"""Weeks of archived history, analysed: each job by itself (`job`), then all together (`report`)."""
