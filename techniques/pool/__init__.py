"""The operator pool: long-lived Python instances beside each executor, and their transport."""
