"""The result store: run folders of open formats (docs/format.md), written once and read again and again.

What is here knows files; it knows nothing of engines or servers, and judges no number.
"""
