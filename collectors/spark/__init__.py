"""What touches the user's Spark: session options, the probe's jar, `stamp`."""
