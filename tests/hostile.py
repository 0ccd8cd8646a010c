"""Names that something on the way to the reader might take for more than names, or for each other."""

from __future__ import annotations

LONG = "x" * 90

# Shown as they are
PLAIN = [
    *(
        "weight [kg]",
        "weight [lb]",
        "[/x]",
        "[bold]x",
        "[link=https://a.b]c[/link]",
        ":smile:",
        "[red on blue]",
    ),  # Rich
    *("$20,000_$29,999", r"$\frac{a$", "$x^2$", "a$b", r"a\$b"),  # Matplotlib
    *("_private", "__"),  # which legends of Matplotlib leave out
    *(
        "<script>alert(1)</script>",
        "</script>",
        "<!--",
        "-->",
        "]]>",
        "&amp;",
        "a&b",
        'q"q',
        "q'q",
        '" onload="x',
    ),  # HTML
    *('a id="x"', "url(#x)", 'version="1"', "</text>", "</style>"),  # SVG
    *("{}", "{0}", "{task.description}", "%s %d", "100%"),  # formats of Python
    *(r"back\slash", r"C:\new", r"\x1b", r"a\nb"),  # which are not what is escaped below
    *("|pipe|", "*star*", "`tick`", "~tilde~", "#tag"),  # Markdown
    *("*/", "--", "'; DROP TABLE x", "??/", 'a """'),  # programs
    *("nan", "None", "inf", "missing", "other", "total", "a, b", "a = b", "日本語"),
]

# Not seen as they are: quoted
ODD = [
    *("\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b31m", "a\x00b", "a\x7fb", "a\rb", "a\nb", "a\tb"),  # terminals
    *("a\u202eb", "a\u2066b", "a\u200bb", "a\u2028b", "\ufeffa", "a\xa0b", "a\xadb"),  # marks that do not show
    *("", " ", "  ", " a", "a ", "a  b", "a   b"),
    *("'q'", '"q"', "''"),
]

# Too long, and different only where they are cut
TALL = [f"{LONG}{k}{LONG}" for k in "123"] + [LONG + "1", "1" + LONG, "weight in [kg] " + LONG]

NAMES = [*PLAIN, *ODD, *TALL]
