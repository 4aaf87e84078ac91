"""The words of the shared page by name; `page.py` says what each is and who writes it."""


class HeaderWord:
    MAGIC, VERSION, STATE, SUPERVISOR, STARTED, BEAT, LAST_USE = range(7)
    OPERATORS, INSTANCES, SLOTS, CONTROL = range(7, 11)
    RING_BYTES, MEMORY_BYTES, REPLACED, BUCKETS, POLICY_FOUND = range(11, 16)


class InstanceWord:
    STATE, INCARNATION, PID, OPERATOR, QUEUED, START_FAILURES = range(6)
    DIED, DIED_SLOT, DIED_CHUNK = range(6, 9)
    TAKEN, EXECUTED, FAILED, ROWS_IN, ROWS_OUT, BUSY_NS, BUSY_SINCE = range(9, 16)
    WORKS_FOR, WORKS_ON, PARKED, CONTROL_SEEN, SHARE, SHARE_FOUND = range(16, 22)


class SlotWord:
    PID, STARTED, GENERATION, CHUNKS, BYTES, CONTROL_SEEN = range(6)
    SENT, AGAIN, TWICE, RESULTS, AWAY, QUERY, QUERY_REST = range(6, 13)
