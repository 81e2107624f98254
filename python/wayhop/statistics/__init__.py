"""Statistics for simulation studies: intervals, comparisons, warm-up, stopping rules, sensitivity.

>>> import wayhop.statistics as statistics
>>> statistics.mean_interval([0.98, 0.99, 0.97, 0.99, 0.98]).half_width
0.010388506...
"""

from .intervals import (
    Interval,
    bootstrap_interval,
    holm,
    mean_interval,
    paired_interval,
    unpaired_interval,
)
from .sensitivity import morris, sobol
from .sequential import sweep_until
from .warm_up import WarmUp, mser5

__all__ = [
    "Interval",
    "WarmUp",
    "bootstrap_interval",
    "holm",
    "mean_interval",
    "morris",
    "mser5",
    "paired_interval",
    "sobol",
    "sweep_until",
    "unpaired_interval",
]
