"""Measurements that anyone can run: `kestrel-bench`."""
