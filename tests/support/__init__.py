"""What tests of several rooms and measurements share; nothing here is collected by pytest.

A test runs an experiment small, `benchmarks` runs the same at full size and writes down its figures.
"""
