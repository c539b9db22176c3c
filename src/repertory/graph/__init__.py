"""How are entries related?

`derive` says which edges one entity has, `follow` what is near in a window of results, `draw` how a graph is written down. Pure functions:
the edges are kept by `store`, and asked for by `search`.
"""
