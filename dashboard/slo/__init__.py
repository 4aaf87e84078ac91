"""SLO checks, and jobs that fell silent: what a person is told of that no detection rule finds.

objectives      an operator sets or withdraws a job's objective
current         the objectives that jobs have now
standing        where a job stands against its objective, for the list of jobs
evaluation      when an SLO is violated and when it is restored; pure
lost_jobs       which runs fell silent, and which are back
notifications   both as events
rounds          what the worker does every second
"""
