"""One host's processes of a pool: how they are found, started, supervised and ended."""
