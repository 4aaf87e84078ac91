"""What the controllers of the techniques on pools share: loads, advice, orders and pictures."""
