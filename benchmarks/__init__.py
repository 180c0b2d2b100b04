"""Measurements at full size, one file each: `python -m benchmarks NAME [OPTION]…`, `make shows` for all.

Nothing here is part of the installed package. Figures are printed and written to build/measurements, with commit and
kind of machine; documents quote them.
"""
