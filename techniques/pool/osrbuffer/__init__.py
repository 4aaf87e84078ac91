"""The OSRBuffer: a ring of messages in memory that the processes of one host share."""
