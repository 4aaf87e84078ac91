"""From a click to a running job and back.

switches        what operators ask: checked, numbered, audited
documents       what is asked of a job, as its control document in Redis
errands         asks the workers to steer a job immediately
status          the state of a setting, from what the job's frames report
controllers     runs controllers: windows in, decisions out
effects         percentiles before against after
failures        an exception of one job must not stop the others
computed        the part of cards that needs windows: computed in the worker, kept in Redis
card_rounds     when the worker computes it, and for which jobs
cards           whole cards, as the job page shows them
notifications   changes of a technique's state as alert events
rounds          what the worker does every second
"""
