"""The scenario files of the comparisons."""

import os

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data")
RESULTS = os.path.join(HERE, "results")


class Case:
    """A movement file, a traffic file and how long to run them."""

    def __init__(self, movement, traffic, duration):
        self.movement, self.traffic, self.duration = movement, traffic, duration

    def name(self):
        return f"{os.path.basename(self.movement)} + {os.path.basename(self.traffic)}"


def fifty_nodes():
    """50 nodes, 1500 m x 300 m, 900 s, 20 flows of 4 packets/s, 64 bytes: the setting of Broch et al. 1998."""
    pairs = [
        ("broch/s1.pause0.tcl", "broch/s1.cbr.tcl"),
        ("broch/s1.pause900.tcl", "broch/s1.cbr.tcl"),
        ("variants/a.pause0.tcl", "variants/a.cbr.tcl"),
        ("variants/b.pause0.tcl", "variants/b.cbr.tcl"),
        ("variants/c.pause60.tcl", "variants/c.cbr.tcl"),
    ]
    return [Case(os.path.join(DATA, movement), os.path.join(DATA, traffic), 900) for movement, traffic in pairs]


def scaling(nodes, duration=60):
    """A stored file of the scaling series: 9000 square metres a node, ten flows."""
    folder = os.path.join(DATA, "scaling")
    return Case(os.path.join(folder, f"n{nodes}.tcl"), os.path.join(folder, f"n{nodes}.cbr.tcl"), duration)
