"""Other machines as hosts: each has a Dask worker, reached over ssh, whose actor holds its `LocalHost`.

The scheduler is a part of the laboratory's process: when that ends, however it ends, so do the workers and
what they started. All of this needs the extra `fleet`; `addresses`, `programs` and `launch` do not.
"""
