"""How is a question answered?

D07, B10: passages are found as whoever asks may find them, a chat model answers from them where one is configured, and every citation in
its answer is one of them.
"""
