"""From a click to a running job and back.

switches        what operators ask: checked, numbered, audited
documents       what is asked of a job, as its control document in Redis
status          where a setting stands, from what the job's frames say
controllers     runs controllers: windows in, decisions out
effects         percentiles before against after
cards           all of it, as the job page shows it
notifications   what others are told of
rounds          what the worker does every second
"""
