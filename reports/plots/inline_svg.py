"""Charts as inline SVG in the page's colours and font, with tooltips and links."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from ..charts.chart import Panel
from .draw_chart import draw_panel
from .style import COLOURS, new_figure, style, to_svg


def inline_svg(panel: Panel, key: str, *, is_small: bool = False) -> Markup:
    """Return a panel as an SVG element whose ids begin with `key`; small ones are placed side by side."""
    with style({"font.size": 11 if is_small else 10.5, "xtick.major.size": 0, "ytick.major.size": 0}):
        figure = new_figure(2.0, 3.6) if is_small else new_figure(3.3, 5.2)
        draw_panel(figure.add_subplot(), panel)
        figure.patch.set_visible(False)
        figure.axes[0].patch.set_visible(False)
        svg = to_svg(figure)
    return Markup(_adapt(svg[svg.index("<svg") :], panel, key))


def _adapt(svg: str, panel: Panel, key: str) -> str:
    size = re.search(r'viewBox="([^"]+)"', svg)
    assert size is not None
    role = "group" if any(series.link for series in panel.series) else "img"
    label = escape(f"{panel.title}: {panel.y.label}, by {panel.x.label}")
    svg = f'<svg class="plot" viewBox="{size[1]}" role="{role}" aria-label="{label}">' + svg[svg.index(">") + 1 :]
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(id="|url\(#|href="#)([a-z][0-9a-f]{10})', rf"\1{key}-\2", svg)
    for name, colour in COLOURS.items():
        svg = svg.replace(f": {colour}", f": var(--{name})")
    svg = re.sub(r" font-family: [^;\"]+;", "", svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]+', ' transform="', svg).replace(' transform=""', "")
    svg = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", re.sub(r"\s*\n\s*", " ", svg))
    for number, series in enumerate(panel.series):
        tooltip = escape(series.tooltip or series.name)
        svg = svg.replace(
            f'<g id="series-{number}">', f'<g data-agent="{escape(series.name)}"><title>{tooltip}</title>'
        )
        link = escape(series.link)
        svg = svg.replace(f'<a xlink:href="{link}" target="_blank">', f'<a href="{link}" aria-label="{tooltip}">')
    return re.sub(r'<g id="[\w.]+"', "<g", re.sub(r'<g id="[\w.]+"/>', "", svg))
