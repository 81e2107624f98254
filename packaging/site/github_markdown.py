"""Pages are written in GitHub's Markdown; mkdocs reads a stricter one.

Python-Markdown wants four columns for each level of a list, blank lines around lists and fences, and
nothing but a language behind a fence. It counts headings of the same name in a way of its own.
"""

import re

from markdown.extensions import toc

ITEM = re.compile(r"([-*+]|\d+[.)])( +)(?=\S)")
FENCE = re.compile(r"(`{3,}|~{3,})(.*)")


def outside_of_fences(text):
    """Each line, with whether it is text: neither code nor its fence."""
    fence = ""
    for line in text.split("\n"):
        mark = FENCE.match(line.lstrip())
        if fence:
            yield line, False
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark:
            fence = mark[1]
            yield line, False
        else:
            yield line, True


def for_python_markdown(text):
    """`text` with lists indented by four columns a level, blank lines around lists and fences, and plain fences."""
    out, levels, paragraph, listed, loose, was_text = [], [], False, False, False, True
    for line, is_text in outside_of_fences(text):
        body = line.lstrip(" ")
        indent = len(line) - len(body)
        item = ITEM.match(body) if is_text else None
        # Only a paragraph may go on left of its item's text.
        if body and (item or not paragraph):
            while levels and indent < levels[-1]:
                levels.pop()
        if body and is_text != was_text and out and out[-1]:
            out.append("")
        depth, within = 4 * len(levels), levels[-1] if levels else 0
        if item:
            if out and out[-1] and (loose or paragraph and not listed):
                out.append("")
            loose = False
            levels.append(indent + item.end())
            indent = within
        elif not is_text:
            body = re.sub(r"^(`{3,}\w+) .*", r"\1", body)
        out.append(" " * (depth + max(0, indent - within)) + body if body else "")
        paragraph = bool(body) and is_text and not body.startswith(("#", "|"))
        listed = bool(levels)
        loose = listed and (loose or not body)
        was_text = is_text
    return "\n".join(out)


def unique(anchor, taken, *_):
    """The anchor of a heading: of those with one name the second gets -1."""
    numbered = (f"{anchor}-{n}" if n else anchor for n in range(len(taken) + 1))
    found = next(name for name in numbered if name not in taken)
    taken.add(found)
    return found


toc.unique = unique


def on_page_markdown(markdown, **_):
    return for_python_markdown(markdown)
