"""How good is it?

Labelled sets in, a table of strategies by metric out (F05). The metrics are ir-measures', the pipeline is the real one.
"""
