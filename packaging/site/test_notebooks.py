"""Notebooks become Markdown with their stored output."""

import base64
import unittest

from notebooks import markdown, page_of


def cell(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def shown(**data):
    return {
        "output_type": "display_data",
        "data": {kind.replace("_", "/"): text for kind, text in data.items()},
    }


HEAD = {"cell_type": "markdown", "source": ["# Title\n", "\n", "About."]}


class Notebooks(unittest.TestCase):
    def test_text_code_and_output_follow_each_other(self):
        said = {"output_type": "stream", "text": ["1\n"]}
        text, images = markdown({"cells": [HEAD, cell("print(1)", said), cell("")]}, "notebooks/a.ipynb")
        self.assertEqual(images, {})
        self.assertTrue(text.startswith('# Title\n\n<a href="a.ipynb" download>'))
        self.assertIn("About.\n\n```python\nprint(1)\n```\n\n```text\n1\n```", text)

    def test_images_become_files_and_tables_one_block(self):
        png = base64.b64encode(b"an image").decode()
        outputs = [
            shown(image_png=png, text_plain="<Figure>"),
            shown(text_html=["<table>\n", "\n", "</table>"]),
        ]
        text, images = markdown({"cells": [HEAD, cell("plot", *outputs)]}, "notebooks/a.ipynb")
        self.assertEqual(images, {"a-0.png": b"an image"})
        self.assertIn("![Output of the cell above](a-0.png)", text)
        self.assertIn('<div class="notebook-output">\n<table>\n</table>\n</div>', text)

    def test_a_failed_cell_ends_the_build(self):
        failed = {"output_type": "error", "ename": "KeyError", "evalue": "x"}
        with self.assertRaisesRegex(ValueError, "a.ipynb has a cell that failed: KeyError: x"):
            markdown({"cells": [HEAD, cell("x", failed)]}, "notebooks/a.ipynb")

    def test_only_notebooks_change_their_name(self):
        self.assertEqual([page_of("a/b.ipynb"), page_of("a/b.png")], ["a/b.md", "a/b.png"])
