"""A local cluster of real Apache Cassandra nodes: their release, settings and JVM options, and their life.

`versions` knows the lines, `shipped` what upstream ships, `profile` what we change and why, `config` writes a
node's files, `node` is one server's life, `ring` tells when all see all, `replication` what a keyspace can
promise, and `testbed` puts them together. `kind` is the record.
"""
