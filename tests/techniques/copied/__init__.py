"""A technique that asks the lever for copies directly: what it holds is what the test says."""
