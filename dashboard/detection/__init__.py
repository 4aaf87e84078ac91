"""Incidents from frames, every second, for every job.

watch      the open incidents of each job, and when its rules are due again
records    incidents as rows, and rows as incidents
rounds     what the worker does every second
"""
