"""Positions on the ground."""

from __future__ import annotations

from math import asin, cos, radians, sin, sqrt
from typing import NamedTuple


class Fix(NamedTuple):
    """The position from the node's GPS receiver (WGS 84)."""

    latitude_deg: float
    longitude_deg: float
    heading_deg: float = 0.0
    """Course over ground, degrees clockwise from north."""
    speed_m_per_s: float = 0.0

    def distance_m(self, other: Fix) -> float:
        """Distance on the ground, metres (haversine formula, mean radius of the Earth)."""
        a, b = radians(self.latitude_deg), radians(other.latitude_deg)
        north, east = b - a, radians(other.longitude_deg - self.longitude_deg)
        h = sin(north / 2) ** 2 + cos(a) * cos(b) * sin(east / 2) ** 2
        return 2 * 6_371_008.8 * asin(min(1.0, sqrt(h)))
