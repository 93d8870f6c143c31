"""Letters for drawn texts: of few ranges, because each character that is drawn is looked up among all of them."""

from hypothesis import strategies as st

OTHERS = "\u03bb\u0436\u05d0\u0663\u65e5\U0001f3ac\u2028\u3000\u203a\u0301"
VISIBLE = st.characters(max_codepoint=0x24F, exclude_categories=["C"], include_characters=OTHERS)
"""Of several scripts and widths, without control characters and those that nobody sees."""
