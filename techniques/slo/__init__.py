"""SLOs as utility functions, and Henge's state machine that moves a cluster's resources to the jobs
that miss theirs (Kalim et al., SoCC'18)."""
