"""How good is it, and how fast?

Run by `make bench`; each script prints ratios against peers measured in the same run.
"""
