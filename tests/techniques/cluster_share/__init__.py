"""A technique of cluster scope: sees all jobs of one label and asks a share of each."""
