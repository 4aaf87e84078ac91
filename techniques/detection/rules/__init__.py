"""One rule per file: `KIND` and `find(view)`, pure."""
