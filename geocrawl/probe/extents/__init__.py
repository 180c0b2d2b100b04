"""Read extents: boxes in WGS 84, reference systems and their codes."""
