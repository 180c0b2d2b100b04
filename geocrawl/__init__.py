"""geocrawl finds geospatial web services by a focused crawl, proves them and keeps a catalogue of the live ones.

`Catalog` reads that catalogue from Python. It is imported when it is first used, so `import geocrawl` costs nothing.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geocrawl.catalog import Catalog

__version__ = "0.1.0"
__all__ = ["Catalog", "__version__"]


if not TYPE_CHECKING:  # a type checker would accept any name of this package

    def __getattr__(name: str) -> object:
        """Return `Catalog`, from the module that defines it."""
        if name == "Catalog":
            from importlib import import_module

            return import_module("geocrawl.catalog").Catalog
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
