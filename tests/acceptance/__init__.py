"""The program as a whole, as people run it: recorded worlds, kills, bombs, a fresh clone (`make acceptance`)."""
