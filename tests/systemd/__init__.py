"""The unit under a real systemd, booted in a container (`make test-systemd`)."""
