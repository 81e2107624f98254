"""Each version of Wayhop has its own folder in site/: what was built for other versions stays."""

import json
import re
import tomllib
from pathlib import Path


def on_config(config):
    root = Path(config.config_file_path).parent
    version = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    config.site_dir = str(root / "site" / version)
    return config


def on_post_build(config):
    site = Path(config.site_dir).parent
    found = [folder.name for folder in site.iterdir() if re.fullmatch(r"\d+\.\d+\.\d+", folder.name)]
    found.sort(key=lambda version: [int(part) for part in version.split(".")], reverse=True)
    menu = [{"version": version, "title": version, "aliases": []} for version in found]
    (site / "versions.json").write_text(json.dumps(menu) + "\n")
    newest = f'<!doctype html><title>Wayhop</title><meta http-equiv="refresh" content="0; url={found[0]}/">\n'
    (site / "index.html").write_text(newest)
