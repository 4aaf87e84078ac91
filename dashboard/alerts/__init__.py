"""Alerts to other systems: an event is published in the transaction of the change it tells of,
kept until it is delivered, signed, and sent only where it may go.

    events → outbox (rows) → delivery (leases, threads) → sender → guard (which address)
                                  └ formats, signing, schedule: pure
"""
