"""The list of jobs: registered from announcements, summarised, ordered, tagged."""
