"""Writes docs/reference/python.md from the docstrings of the package.

    python3 python/reference.py

A test compares the page with the package.
"""

from __future__ import annotations

import ast
import re
import textwrap
from inspect import cleandoc
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs/reference/python.md"
HEAD = """\
# The Python package

Every public function and class of `wayhop`. For running and analysing simulations, the
[guide](../python.md) shows how they fit together; for protocols and applications,
[the tutorial](../tutorials/python-protocol.md). `python3 python/reference.py` generates this page
from the docstrings.
"""
SECTIONS = {
    "Runs": ("wayhop", "runs.py", ("run", "load", "decode", "Run")),
    "Tables": ("wayhop.tables", "tables.py", ("Tables",)),
    "Summaries": ("wayhop.figures", "figures.py", ("Figures",)),
    "Sweeps": ("wayhop", "sweeps.py", ("sweep", "load_sweep", "Sweep", "SweepRun")),
    "Scenarios": ("wayhop", "scenarios.py", ("Scenario",)),
    "Figures": ("wayhop.plot", "plot.py", None),
    "Statistics": ("wayhop.statistics", "statistics/intervals.py", None),
    "Warm-up": ("wayhop.statistics", "statistics/warm_up.py", None),
    "Stopping rule": ("wayhop.statistics", "statistics/sequential.py", None),
    "Sensitivity": ("wayhop.statistics", "statistics/sensitivity.py", None),
    "Simulations in this process": ("wayhop", "simulation.py", ("Simulation", "Step")),
    "Learning environments": ("wayhop.gym", "gym/routing.py", ("RoutingEnv",)),
    "One agent for all nodes": ("wayhop.gym", "gym/central.py", ("CentralEnv",)),
    "Settings of environments": ("wayhop.gym", "gym/settings.py", ("Settings",)),
    "Actions of agents": ("wayhop.gym", "gym/actions.py", ("NextHops", "Parameters")),
    "Rewards": ("wayhop.gym", "gym/rewards.py", ("delivered_minus_cost",)),
    "The studio": ("wayhop", "notebook.py", ("studio", "Studio")),
    "Protocols": (
        "wayhop",
        "protocol.py",
        ("Protocol", "Rx", "TxReport", "TxStatus", "RouteUse", "LinkChange", "DropReason"),
    ),
    "The context of a protocol": ("wayhop", "context.py", ("Cx",)),
    "Packets": ("wayhop", "packet.py", ("Packet", "ip_protocol", "udp")),
    "Applications": ("wayhop", "application.py", ("Application",)),
    "The context of an application": ("wayhop", "application_context.py", ("ApplicationCx",)),
    "Endpoints and streams": (
        "wayhop",
        "endpoint.py",
        ("Endpoint", "Stream", "StreamEvent", "StreamEventKind", "StreamEnd"),
    ),
    "Time, random numbers and timers": ("wayhop.handler", "handler.py", ("HandlerCx",)),
    "Parameters": ("wayhop", "parameters.py", ("parameter", "address_parameter")),
    "Positions": ("wayhop", "position.py", ("Fix",)),
    "Errors": ("wayhop", "errors.py", ("WayhopError", "InputError", "RunError", "MissingError", "Problem")),
}
OPERATORS = {"__getitem__": "[key]", "__setitem__": "[key] = value"}
ARGUMENTS = re.compile(r"^(\w+): ", re.MULTILINE)


def signature(function: ast.FunctionDef, name: str) -> str:
    """How a function is called; one argument a line if it is long."""
    arguments = function.args
    arguments.args = [a for a in arguments.args if a.arg != "self"]
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    short = f"{name}({ast.unparse(arguments)}){returns}"
    if len(short) <= 96:
        return short
    parts = split(ast.unparse(arguments))
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){returns}"


def split(arguments: str) -> list[str]:
    """Arguments at the commas outside of brackets."""
    parts, depth = [""], 0
    for sign in arguments:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def prose(text: str) -> str:
    """A docstring as Markdown."""
    out = []
    for block in re.split(r"\n\n+", cleandoc(text)):
        head, _, rest = block.partition("\n")
        if head in ("Args:", "Raises:"):
            entries = textwrap.dedent(rest).split("\n")
            items: list[str] = []
            for line in entries:
                if line.startswith(" "):
                    items[-1] += " " + line.strip()
                else:
                    items.append(line)
            mark = r"- raises `\1`: " if head == "Raises:" else r"- `\1`: "
            listed = [wrap(ARGUMENTS.sub(mark, item, count=1), "  ") for item in items]
            out.append("\n".join(listed))
        elif block.startswith(">>>"):
            out.append(f"```python\n{block}\n```")
        else:
            out.append(wrap(block, ""))
    return "\n\n".join(out) + "\n"


def wrap(text: str, indent: str) -> str:
    return textwrap.fill(
        " ".join(text.replace("``", "`").split()),
        100,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def members(node: ast.ClassDef) -> list[str]:
    """Attributes, properties and methods with a docstring."""
    out: list[str] = []
    attributes = []
    for scope in [node, *(m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__init__")]:
        for statement, after in zip(scope.body, scope.body[1:], strict=False):
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if not is_text or not isinstance(after.value.value, str):
                continue
            target = (
                statement.target
                if isinstance(statement, ast.AnnAssign)
                else getattr(statement, "targets", [None])[0]
            )
            if target is not None:
                name = ast.unparse(target).removeprefix("self.")
                attributes.append((name, after.value.value))
    for member in node.body:
        if not isinstance(member, ast.FunctionDef) or not (text := ast.get_docstring(member)):
            continue
        marks = [ast.unparse(mark) for mark in member.decorator_list]
        if any(mark in ("property", "cached_property") for mark in marks):
            attributes.append((member.name, text))
        elif member.name in OPERATORS:
            attributes.append((OPERATORS[member.name], text))
        elif not member.name.startswith("_"):
            out.append(f"```python\n{signature(member, member.name)}\n```\n\n{prose(text)}")
    listed = [wrap(f"- `{name}`: {text}", "  ") for name, text in attributes]
    return (["\n".join(listed) + "\n"] if listed else []) + out


def section(title: str, module: str, file: str, names: tuple[str, ...] | None) -> str:
    tree = ast.parse((ROOT / "python/wayhop" / file).read_text())
    found = {n.name: n for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    out = [f"## {title}\n"]
    if names is None and (about := ast.get_docstring(tree)):
        out.append(prose(about))
    for name in names or [n for n in found if not n.startswith("_")]:
        node = found[name]
        out.append(f"### {module}.{name}\n")
        if isinstance(node, ast.FunctionDef):
            out.append(f"```python\n{signature(node, name)}\n```\n")
        out.append(prose(ast.get_docstring(node) or ""))
        if isinstance(node, ast.ClassDef):
            out += members(node)
    return "\n".join(out)


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *(section(title, *what) for title, what in SECTIONS.items())])


if __name__ == "__main__":
    TARGET.write_text(page())
