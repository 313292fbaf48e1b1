"""A local cluster of real HBase servers on HDFS, with ZooKeeper; or a running one, given by its addresses.

`versions` knows the lines, `layout` which server runs where and at which ports, `profile` what we change of
upstream and why, `config` writes a node's files, `launch` the servers' command lines; `wire` and `jmx` ask a
server one thing, `serving` tells when all serve, `admin` has them flush, compact and balance; `testbed` puts
them together. `kind` is the record.
"""
