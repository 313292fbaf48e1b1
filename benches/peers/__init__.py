"""What the benches against other clients share: a JVM told by lines, what a run costs, the other CQL clients.

`benches/cql_client.py` and `benches/hbase_client.py` are the commands. `ycsb` runs
YCSB itself, for tests and `benches/ycsb_threads.py`.
"""
