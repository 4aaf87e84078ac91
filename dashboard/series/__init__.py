"""Frames and activities as series: columns for pages, a history and a view for rules."""
