"""Off and on in alternating blocks on one running query, and what that changed."""
