"""What does a person see in the browser?

Plain files without a build step, served by `rest/page` as they are; the page asks the REST API like any other client. Each module of `js/`
opens with the question it answers.
"""
