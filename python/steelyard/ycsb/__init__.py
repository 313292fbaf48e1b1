"""YCSB's command line on our engine: its words and property files in, its output out.

`arguments` parses the command line, `translate` turns properties into a study of one trial (`bindings` its
system), `client` runs it, `sections` and `exporters` print what was measured, `status` and `hdr_files` what
YCSB shows meanwhile. What YCSB does wrong and this does not stands in one table, `differences`. Nothing here
measures.
"""
