"""`gws`: improved best-first search for WMS (Shen, Gui, You, Hu, Wu 2015)."""
