"""Incidents from frames, every second, for every job.

watch      what is kept of each job between looks, and when a look is due
records    incidents as rows, and rows as incidents
rounds     what the worker does every second
"""
