"""Analyses of archived history on the server's side: asked, run in a process of their own, kept."""
