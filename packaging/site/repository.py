"""Links from pages to files outside of docs/.

Pages of the repository that other pages link to (README.md, bench/README.md, ...) become pages of the
site, in repository/. Links to other files lead to `extra.repository_files`; while that is empty, to
copies in repository/. A link to nothing ends the build.
"""

import logging
import posixpath
import re
from pathlib import Path

from github_markdown import outside_of_fences
from mkdocs.structure.files import File
from notebooks import page_of

log = logging.getLogger("mkdocs.hooks.repository")
HERE = "repository/"
# Code, or the target of a link.
TARGET = re.compile(r"`+[^`]*`+|(?<=\]\()([^)#\s:]+)(#[^)\s]*)?(?=\))")


def with_links(text, change):
    """`text` with `change(path, anchor)` for each relative link."""
    def changed(match):
        return change(match[1], match[2] or "") if match[1] else match[0]

    lines = outside_of_fences(text)
    return "\n".join(TARGET.sub(changed, line) if is_text else line for line, is_text in lines)


def source(page):
    """The path in the repository of a page of the site."""
    return page.removeprefix(HERE) if page.startswith(HERE) else "docs/" + page


def linked(root, page, path):
    """The file or folder in the repository to which a page's link leads; a folder's README.md before the folder."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source(page)), path))
    readme = posixpath.join(target, "README.md")
    return readme if (root / readme).is_file() else target


def place(target):
    """Where the site has a file of the repository, or a folder's list."""
    if target.startswith("docs/") and posixpath.splitext(target)[1]:
        return page_of(target.removeprefix("docs/"))
    # A browser shows what is named .txt, and would save a .toml or a .rs.
    return HERE + target + ("" if target.endswith(".md") else ".txt")


def copy(root, target, page, config):
    file = root / target
    if file.is_file():
        return File.generated(config, page, abs_src_path=str(file))
    return File.generated(config, page, content="\n".join(sorted(f.name for f in file.iterdir())) + "\n")


def on_files(files, config):
    root = Path(config.config_file_path).parent
    pages = [file.src_uri for file in files.documentation_pages()]
    for page in pages:
        def add(path, anchor):
            target = linked(root, page, path)
            there = place(target)
            if not (root / target).exists():
                log.warning("%s links to %s, which is not in the repository", source(page), path)
            elif not there.startswith(HERE) or files.get_file_from_path(there):
                pass
            elif target.endswith(".md") or not config.extra["repository_files"]:
                files.append(copy(root, target, there, config))
                if target.endswith(".md"):
                    pages.append(there)
            return path + anchor

        with_links((root / source(page)).read_text(), add)
    return files


def on_page_markdown(markdown, page, config, files):
    root, here = Path(config.config_file_path).parent, page.file.src_uri

    def lead(path, anchor):
        target = linked(root, here, path)
        if files.get_file_from_path(place(target)):
            return posixpath.relpath(place(target), posixpath.dirname(here) or ".") + anchor
        return config.extra["repository_files"] + target + anchor

    return with_links(markdown, lead)
