"""The server side: records, live feed, API, pages and the command line."""
