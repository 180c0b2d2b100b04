"""Draw statistics: bars, curves and a world map, as SVG for pages and files, as PNG, and as text for terminals.

- `svg` draws bars, curves and meters, and the colours of those in files;
- `world` counts extents in cells of a degree and draws them over a base map;
- `png` turns these SVGs into pictures of points;
- `text` draws the same with characters.
"""
