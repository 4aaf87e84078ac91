"""The live feed of the pages: one reader of the store per server process, many browsers."""
