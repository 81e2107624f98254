"""What Python-Markdown makes of a page is what CommonMark says (https://spec.commonmark.org/0.31.2/)."""

import re
import unittest

from github_markdown import for_python_markdown, unique
from markdown import markdown

EXTENSIONS = ["tables", "sane_lists", "pymdownx.superfences"]


def tags(page):
    """The tags that a page's blocks become, without paragraphs."""
    html = markdown(for_python_markdown(page), extensions=EXTENSIONS)
    return re.findall(r"</?(?:ul|ol|li|table|pre|h2)\b", html)


class Blocks(unittest.TestCase):
    def test_a_list_of_two_columns_is_nested(self):
        nested = ["<ul", "<li", "<ul", "<li", "</li", "</ul", "</li", "<li", "</li", "</ul"]
        self.assertEqual(tags("- a\n  - b\n- c\n"), nested)

    def test_a_list_may_follow_a_paragraph_or_a_heading(self):
        self.assertEqual(tags("text:\n- a\n"), ["<ul", "<li", "</li", "</ul"])
        self.assertEqual(tags("## head\n- a\n")[2:], ["<ul", "<li", "</li", "</ul"])

    def test_a_line_that_goes_on_at_the_margin_belongs_to_its_item(self):
        self.assertEqual(tags("- a\nb\n- c\n"), ["<ul", "<li", "</li", "<li", "</li", "</ul"])

    def test_an_item_may_have_a_table_and_code_and_another_one_follows(self):
        page = "* a\n\n  | b |\n  |---|\n  | c |\n\n  d:\n  ```sh\n  e\n  ```\n* f\n"
        found = ["<ul", "<li", "<table", "</table", "<pre", "</pre", "</li", "<li", "</li", "</ul"]
        self.assertEqual(tags(page), found)

    def test_signs_of_lists_in_code_are_code(self):
        self.assertEqual(tags("```sh no-run=\"why\"\n- a\n  - b\n```\n"), ["<pre", "</pre"])
        self.assertIn("- a\n  - b", for_python_markdown("```sh\n- a\n  - b\n```\n"))


class Anchors(unittest.TestCase):
    def test_those_of_one_name_are_numbered_from_the_second_on(self):
        taken = set()
        self.assertEqual([unique("a", taken) for _ in range(3)], ["a", "a-1", "a-2"])
