"""Define the templates of page designs: seven of no particular software, then those of kinds of software."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Design:
    """The templates of one design. {c} is a prefix of class names, {x} the content."""

    doctype: str
    body: str
    """Template with {name}, {nav}, {title}, {main}, {foot}."""
    nav: tuple[str, str, str]
    """Templates of the navigation's opening, of one link, and of the closing."""
    links: tuple[str, str, str]
    facts: tuple[str, str, str]
    """Templates of the opening, of one row with {label} and {x}, and of the closing."""
    heading: str
    paragraph: str = "<p>{x}</p>\n"


HTML5 = "<!DOCTYPE html>\n"
HTML4 = '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">\n'
XHTML = (
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">\n'
)
_LIST = ("<ul>\n", "<li>{x}</li>\n", "</ul>\n")
_ROWS = ("<table>\n", "<tr><th>{label}</th><td>{x}</td></tr>\n", "</table>\n")
TEMPLATES: Mapping[str, Design] = {
    "modern": Design(
        HTML5,
        '<header class="{c}-top"><strong>{name}</strong>{nav}</header>\n<main>\n<h1>{title}</h1>\n{main}</main>\n'
        '<footer class="{c}-end">{foot}</footer>',
        ('<nav aria-label="{c}"><ul>', "<li>{x}</li>", "</ul></nav>"),
        _LIST,
        (
            '<table class="{c}-facts"><tbody>\n',
            '<tr><th scope="row">{label}</th><td>{x}</td></tr>\n',
            "</tbody></table>\n",
        ),
        "<h2>{x}</h2>\n",
    ),
    "cards": Design(
        HTML5,
        '<div id="{c}-page"><aside>{nav}</aside>\n<section><h1>{title}</h1>\n{main}</section>\n</div>\n'
        '<div class="{c}-bottom">{name} {foot}</div>',
        ('<div class="{c}-menu">', "<span>{x}</span>\n", "</div>"),
        ('<div class="{c}-deck">\n', '<article class="{c}-card"><h3>{x}</h3></article>\n', "</div>\n"),
        (
            '<div class="{c}-deck">\n',
            '<article class="{c}-card"><h4>{label}</h4><p>{x}</p></article>\n',
            "</div>\n",
        ),
        '<h2 class="{c}-head">{x}</h2>\n',
    ),
    "table": Design(
        HTML4,
        '<table width="100%" cellpadding=4><tr><td colspan=2 bgcolor="#ccddee"><font size=5>{name}</font></td>\n'
        "<tr valign=top><td width=160>{nav}</td>\n<td><h3>{title}</h3>\n{main}</td></tr>\n"
        "<tr><td colspan=2><small>{foot}</small></td></tr></table>",
        ("<p>", "{x}<br>\n", "</p>"),
        ("<table border=1>\n", "<tr><td>{x}</td></tr>\n", "</table>\n"),
        ("<table border=1>\n", "<tr><td><b>{label}</b><td>{x}\n", "</table>\n"),
        "<b>{x}</b><br>\n",
        "<p>{x}\n",
    ),
    "definitions": Design(
        XHTML,
        '<div class="{c}"><p>{nav}</p>\n<h1>{name}</h1><h2>{title}</h2>\n{main}<hr />{foot}</div>',
        ("", "{x} | ", ""),
        ("<ol>\n", "<li>{x}</li>\n", "</ol>\n"),
        ("<dl>\n", "<dt>{label}</dt>\n<dd>{x}</dd>\n", "</dl>\n"),
        "<h3>{x}</h3>\n",
    ),
    "bare": Design(
        "",
        "<h1>{title}</h1>\n{nav}\n{main}\n<hr>\n<address>{name} {foot}</address>",
        ("[ ", "{x} ]\n[ ", "]"),
        _LIST,
        _ROWS,
        "<h2>{x}</h2>\n",
    ),
    "boxes": Design(
        HTML5,
        '<div class="{c}1"><div class="{c}2">{nav}</div>\n'
        '<div class="{c}3"><div class="{c}4">{title}</div>\n{main}</div>\n'
        '<div class="{c}5">{name}</div><div class="{c}6">{foot}</div></div>',
        ("", '<div class="{c}7">{x}</div>', ""),
        ('<div class="{c}8">\n', '<div class="{c}9">{x}</div>\n', "</div>\n"),
        ('<div class="{c}8">\n', '<div class="{c}9"><span>{label}:</span> {x}</div>\n', "</div>\n"),
        '<div class="{c}0">{x}</div>\n',
        '<div class="{c}p">{x}</div>\n',
    ),
    "frames": Design(
        HTML4,
        "<center><b>{title}</b></center>\n{main}\n<hr size=1>{nav}\n<font size=1>{name} {foot}</font>",
        ("", "{x} - ", ""),
        ("<blockquote>\n", "{x}<br>\n", "</blockquote>\n"),
        ("<pre>\n", "{label}: {x}\n", "</pre>\n"),
        "<u>{x}</u><br>\n",
    ),
    "wiki": Design(
        HTML5,
        '<div id="content" class="mw-body"><h1 id="firstHeading">{title}</h1>\n<div class="mw-output">{main}</div>\n'
        '</div><div id="mw-panel"><p>{name}</p>{nav}</div>\n<div id="footer">{foot}</div>',
        ('<div class="portal"><ul>', '<li class="mw-list-item">{x}</li>', "</ul></div>"),
        ('<ul class="mw-links">\n', "<li>{x}</li>\n", "</ul>\n"),
        ('<table class="infobox">\n', "<tr><th>{label}</th><td>{x}</td></tr>\n", "</table>\n"),
        '<h2><span class="mw-headline">{x}</span></h2>\n',
    ),
    "ckan": Design(
        HTML5,
        '<header class="navbar"><a class="logo">{name}</a>{nav}</header>\n<div role="main"><div class="primary">'
        '<h1>{title}</h1>\n{main}</div></div>\n<footer class="site-footer">{foot}</footer>',
        ('<ul class="nav-pills">', "<li>{x}</li>", "</ul>"),
        ('<ul class="dataset-list">\n', '<li class="dataset-item"><h3>{x}</h3></li>\n', "</ul>\n"),
        (
            '<section class="additional-info"><table>\n',
            '<tr><th class="dataset-label">{label}</th><td class="dataset-details">{x}</td></tr>\n',
            "</table></section>\n",
        ),
        '<h2 class="module-heading">{x}</h2>\n',
        '<div class="notes"><p>{x}</p></div>\n',
    ),
    "metadata": Design(
        XHTML,
        '<div id="banner">{name} {nav}</div>\n<fieldset><legend>{title}</legend>\n{main}</fieldset>\n<p>{foot}</p>',
        ("<span>", "{x} &#160; ", "</span>"),
        ('<div class="hits">\n', '<div class="hit">{x}</div>\n', "</div>\n"),
        (
            "<table>\n",
            '<tr><td class="padded"><span class="md">{label}</span></td><td class="padded">{x}</td></tr>\n',
            "</table>\n",
        ),
        "<h3 class='md-title'>{x}</h3>\n",
        '<div class="abstract">{x}</div>\n',
    ),
    "weblog": Design(
        HTML5,
        '<div id="wrapper"><div class="masthead">{name}</div>\n<article class="hentry"><h2 class="entry">{title}</h2>\n'
        '<div class="entry-content">{main}</div></article>\n<aside class="widget-area">{nav}</aside>\n'
        '<div class="colophon">{foot}</div></div>',
        ('<ul class="widget">', "<li>{x}</li>\n", "</ul>"),
        ('<ul class="entries">\n', '<li class="cat-item">{x}</li>\n', "</ul>\n"),
        ("<dl class='meta'>\n", "<dt>{label}</dt><dd>{x}</dd>\n", "</dl>\n"),
        "<h3>{x}</h3>\n",
    ),
    "board": Design(
        HTML4,
        '<table class="forumline" width="100%"><tr><th>{name}</th></tr><tr><td class="nav">{nav}</td></tr>\n'
        '<tr><td><span class="maintitle">{title}</span>{main}</td></tr></table>\n<span class="copyright">{foot}</span>',
        ("", "{x} &raquo; ", ""),
        (
            '<table class="forumline">\n',
            '<tr><td class="row1"><span class="topictitle">{x}</span></td></tr>\n',
            "</table>\n",
        ),
        (
            '<table class="forumline">\n',
            '<tr><td class="row2">{label}</td><td class="row1">{x}</td></tr>\n',
            "</table>\n",
        ),
        '<span class="gen">{x}</span><br>\n',
        '<tr><td class="postbody">{x}</td></tr>\n',
    ),
    "directory": Design(
        HTML4,
        "<h2>{name}</h2>\n<font size=-1>{nav}</font><hr>\n<b>{title}</b>\n{main}\n<hr><small>{foot}</small>",
        ("", "{x} &gt; ", ""),
        ("<ul>\n", "<li>{x}\n", "</ul>\n"),
        ("<ul>\n", "<li>{x} - <i>{label}</i>\n", "</ul>\n"),
        "<p><b>{x}</b>\n",
        "<p><font size=-1>{x}</font>\n",
    ),
    "government": Design(
        XHTML,
        '<div id="metanav">{foot}</div>\n<div id="logo">{name}</div>\n<div id="leftnav">{nav}</div>\n'
        '<div id="content"><h1 class="isFirstInSlot">{title}</h1>\n{main}</div>',
        ('<ul class="navLevel1">', "<li>{x}</li>\n", "</ul>"),
        ('<div class="teaserlist">\n', '<div class="teaser"><p>{x}</p></div>\n', "</div>\n"),
        ('<div class="box">\n', "<h4>{label}</h4><p>{x}</p>\n", "</div>\n"),
        '<h2 class="headline">{x}</h2>\n',
        '<p class="text">{x}</p>\n',
    ),
    "shell": Design(
        HTML5,
        '<noscript>{title}</noscript>\n<div id="app">{main}</div>{nav}{foot}',
        ("", "{x}", ""),
        ("<div hidden>\n", "{x}\n", "</div>\n"),
        ("<div>\n", "<span>{label}</span>{x}\n", "</div>\n"),
        "",
    ),
    "results": Design(
        HTML5,
        '<div class="shell-header">{name}{nav}</div>\n<div class="search-page"><h1>{title}</h1>\n{main}</div>\n'
        '<div class="legal">{foot}</div>',
        ('<ul class="tabs">', '<li class="tab">{x}</li>', "</ul>"),
        ('<ol class="results">\n', '<li class="result"><span class="hit">{x}</span></li>\n', "</ol>\n"),
        ('<dl class="result-detail">\n', "<dt>{label}</dt><dd>{x}</dd>\n", "</dl>\n"),
        '<h2 class="facet">{x}</h2>\n',
        '<p class="snippet">{x}</p>\n',
    ),
    "channel": Design(
        XHTML,
        '<div class="top"><div class="logo">{name}</div><div class="menu">{nav}</div></div>\n'
        '<div class="dqwz">{title}</div><div class="main">{main}</div>\n<div class="bottom">{foot}</div>',
        ('<ul class="nav">', "<li>{x}</li>", "</ul>"),
        ('<ul class="list_ul">\n', "<li>·{x}</li>\n", "</ul>\n"),
        ('<table class="xxgk_table">\n', "<tr><td>{label}</td><td>{x}</td></tr>\n", "</table>\n"),
        '<div class="title_bar">{x}</div>\n',
        '<p style="text-indent:2em">{x}</p>\n',
    ),
}
