"""The site's navigation is the index, docs/README.md: its sections are the tabs, its bold lines their groups."""

import re
from pathlib import Path

from repository import linked, place

INDEX = "README.md"
LINK = re.compile(r"\]\(([^)#:]+)\)")


def navigation(index, page_of):
    group, seen = [INDEX], {INDEX}
    tabs = [{"Start": group}]
    for line in index.split("\n"):
        if line.startswith("## "):
            group = []
            tabs.append({line.removeprefix("## "): group})
        elif bold := re.fullmatch(r"\*\*(.+)\*\*", line):
            group = []
            next(iter(tabs[-1].values())).append({bold[1]: group})
        for page in map(page_of, LINK.findall(line)):
            if page not in seen:
                group.append(page)
                seen.add(page)
    return tabs


def on_config(config):
    root = Path(config.config_file_path).parent
    index = (Path(config.docs_dir) / INDEX).read_text()
    config.nav = navigation(index, lambda path: place(linked(root, INDEX, path)))
    return config
