"""The papers' algorithms, one folder each: pure, knowing neither Django nor Redis nor a clock."""
