"""Index the signs that kinds of service declare, for lookup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from geocrawl.detect.paths import KnownServers
from geocrawl.model import Kind
from geocrawl.model.kinds import KindDeclaration

_OGC_HOSTS = ("www.opengis.net", "www.opengeospatial.net")


@dataclass(frozen=True, slots=True)
class Rules:
    """Signs of all kinds. Of two kinds that an address or a document fits, the first declared one counts."""

    kinds: tuple[KindDeclaration, ...]
    of_kind: Mapping[Kind, KindDeclaration]
    of_service: Mapping[str, KindDeclaration]
    """Value of SERVICE → kind."""
    of_request: Mapping[str, KindDeclaration]
    """Value of REQUEST → kind."""
    of_old_request: Mapping[str, KindDeclaration]
    of_root: Mapping[str, Kind]
    """Root element of a document → kind."""
    of_namespace: Mapping[str, Kind]
    """Beginning of a namespace of OWS Common's root, without scheme → kind."""
    servers: KnownServers

    @classmethod
    def of(cls, kinds: Sequence[KindDeclaration]) -> Rules:
        """Return the index of the signs of these kinds."""
        return cls(
            kinds=tuple(kinds),
            of_kind={each.kind: each for each in kinds},
            of_service={service: each for each in kinds for service in each.services},
            of_request={request: each for each in kinds for request in each.requests},
            of_old_request={request: each for each in kinds for request in each.old_requests},
            of_root={root: each.kind for each in kinds for root in each.roots | each.error_roots},
            of_namespace={
                f"{host}/{place}": each.kind for each in kinds for place in each.namespaces for host in _OGC_HOSTS
            },
            servers=KnownServers.of(kinds),
        )
