"""The scenario files of the comparisons."""

import os

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data")
RESULTS = os.path.join(HERE, "results")


class Case:
    """A movement file, a traffic file, how long to run them, and how many seeds a comparison of means needs."""

    def __init__(self, movement, traffic, duration, seeds=3):
        self.movement, self.traffic, self.duration, self.seeds = movement, traffic, duration, seeds

    def seeds_of(self, protocol):
        """DSDV's routes do not stay as they were first found: each update improves them."""
        return min(self.seeds, 10) if protocol == "DSDV" else self.seeds

    def name(self):
        return f"{os.path.basename(self.movement)} + {os.path.basename(self.traffic)}"


def fifty_nodes():
    """50 nodes, 1500 m x 300 m, 900 s, 20 flows of 4 packets/s, 64 bytes: the setting of Broch et al. 1998."""
    files = [
        ("broch/s1.pause0.tcl", "broch/s1.cbr.tcl", 3),
        # The few routes of a static network stay as they were first found: ns-2's own mean hops spread by 5 % between
        # seeds, as much as the bound, so that means over few seeds say nothing.
        ("broch/s1.pause900.tcl", "broch/s1.cbr.tcl", 20),
        ("variants/a.pause0.tcl", "variants/a.cbr.tcl", 3),
        ("variants/b.pause0.tcl", "variants/b.cbr.tcl", 3),
        ("variants/c.pause60.tcl", "variants/c.cbr.tcl", 3),
    ]
    return [Case(os.path.join(DATA, move), os.path.join(DATA, load), 900, seeds) for move, load, seeds in files]


def scaling(nodes, duration=60):
    """A stored file of the scaling series: 9000 square metres a node, ten flows."""
    folder = os.path.join(DATA, "scaling")
    return Case(os.path.join(folder, f"n{nodes}.tcl"), os.path.join(folder, f"n{nodes}.cbr.tcl"), duration)
