"""From a click to a running job and back.

switches        what operators ask: checked, numbered, audited
documents       what is asked of a job, as its control document in Redis
errands         has a worker steer a job at once
status          where a setting stands, from what the job's frames say
controllers     runs controllers: windows in, decisions out
effects         percentiles before against after
failures        what one job throws is kept to it
computed        the part of cards that needs windows: made in the worker, kept in Redis
card_rounds     when the worker makes it, and for which jobs
cards           all of it, as the job page shows it
notifications   what others are told of
rounds          what the worker does every second
"""
