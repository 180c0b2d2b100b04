"""The strategies, one file each (`fusion` is a folder); none imports another. `priority/registry.py` declares them."""
