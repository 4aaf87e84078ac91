"""HTML pages, and what every request passes: headers, limits, logins, static modules."""
