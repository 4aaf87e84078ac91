"""People, their roles, tokens and logins, and the audit of what they change."""
