"""What does a person see in the browser?

One page without a build step, served as it is; it asks the REST API like any other client.
"""
