"""How is one request answered?

`plan` decides, `engine` executes the plan one line per stage, and each stage is a module of its own: lanes, fuse, rank, rescale, group.
"""
