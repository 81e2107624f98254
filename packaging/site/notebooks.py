"""Notebooks in docs/ become pages, with the output that is stored in them."""

import base64
import json
import posixpath
from pathlib import Path

from mkdocs.structure.files import File


def page_of(path):
    """The page of a notebook; other paths stay."""
    return path.removesuffix(".ipynb") + ".md" if path.endswith(".ipynb") else path


def lines(text):
    """A text of a notebook, which stores some as lists of lines."""
    return "".join(text) if isinstance(text, list) else text


def output(shown, name, images):
    """Markdown for one output of a cell; its images go into `images`, by name."""
    if shown["output_type"] == "error":
        raise ValueError(f"{name} has a cell that failed: {shown['ename']}: {shown['evalue']}")
    if shown["output_type"] == "stream":
        return f"```text\n{lines(shown['text']).rstrip()}\n```\n"
    data = shown["data"]
    if "image/png" in data:
        image = f"{posixpath.basename(name).removesuffix('.ipynb')}-{len(images)}.png"
        images[image] = base64.b64decode(lines(data["image/png"]))
        return f"![Output of the cell above]({image})\n"
    if "text/html" in data:
        # One block of HTML: a blank line would end it.
        kept = [line for line in lines(data["text/html"]).split("\n") if line.strip()]
        return '<div class="notebook-output">\n' + "\n".join(kept) + "\n</div>\n"
    return f"```text\n{lines(data['text/plain']).rstrip()}\n```\n"


def markdown(notebook, name):
    """A notebook as Markdown, and its images."""
    parts, images = [], {}
    for cell in notebook["cells"]:
        text = lines(cell["source"]).rstrip()
        if cell["cell_type"] == "markdown":
            parts.append(text + "\n")
        elif text:
            parts.append(f"```python\n{text}\n```\n")
            parts += [output(shown, name, images) for shown in cell["outputs"]]
    first, *rest = parts
    heading, _, after = first.partition("\n")
    download = f'<a href="{posixpath.basename(name)}" download>Download this notebook</a>\n'
    return "\n".join([heading + "\n", download, after.lstrip("\n"), *rest]), images


def on_files(files, config):
    for file in list(files):
        if not file.src_uri.endswith(".ipynb"):
            continue
        notebook = json.loads(Path(file.abs_src_path).read_text(encoding="utf-8"))
        text, images = markdown(notebook, file.src_uri)
        files.append(File.generated(config, page_of(file.src_uri), content=text))
        for image, content in images.items():
            place = posixpath.join(posixpath.dirname(file.src_uri), image)
            files.append(File.generated(config, place, content=content))
        # The link to download is plain HTML; mkdocs gives each page a folder of its own.
        folder = posixpath.join(page_of(file.src_uri).removesuffix(".md"), posixpath.basename(file.src_uri))
        files.append(File.generated(config, folder, abs_src_path=file.abs_src_path))
        files.remove(file)
    return files
