"""How is text understood?

Pure functions from text to tokens. What a token weighs, and where it is looked up, is decided elsewhere.
"""
