"""An explanation as a picture: bars to the left and right of a line, one a feature."""

from collections.abc import Sequence
from html import escape

from .explanation import FeatureShare, LinkExplanation

# Pixels: names of features stand left of the bars, figures right of them.
_WIDTH, _LEFT, _RIGHT, _ROW, _BAR, _GAP = 640, 190, 70, 20, 13, 14
_SHOWN = 8
# For and against; told apart by the side they stand on, too.
_FOR, _AGAINST = "#2a78b5", "#c2561a"


def explanation_svg(explained: LinkExplanation) -> str:
    """Draw what each feature adds, in nats: for the first concept, for its being right, and how far
    the second falls behind.

    explained (LinkExplanation): of `AngelLinker.explain`.
    RETURNS (str): an SVG element with a title and texts in the colour of the page around; empty
        where no features decided.
    """
    parts = list(_parts(explained))
    if not parts:
        return ""
    most = max(abs(share.contribution) for _, shares in parts for share in shares) or 1.0
    half = (_WIDTH - _LEFT - _RIGHT) / 2
    middle = _LEFT + half
    lines: list[str] = []
    y = 0
    for title, shares in parts:
        y += _GAP
        lines.append(f'<text x="0" y="{y}" font-weight="bold">{escape(title)}</text>')
        top = y + 6
        for share in shares:
            y += _ROW
            length = max(abs(share.contribution) / most * half, 1.0)
            x = middle if share.contribution >= 0 else middle - length
            color = _FOR if share.contribution >= 0 else _AGAINST
            lines += [
                f'<text x="{_LEFT - 8}" y="{y}" text-anchor="end">{escape(share.feature)}</text>',
                f'<rect x="{x:.1f}" y="{y - _BAR + 2}" width="{length:.1f}" height="{_BAR}" '
                f'fill="{color}"/>',
                f'<text x="{_WIDTH}" y="{y}" text-anchor="end">{share.contribution:+.2f}</text>',
            ]
        lines.append(
            f'<line x1="{middle}" x2="{middle}" y1="{top}" y2="{y + 5}" stroke="currentColor"/>'
        )
        y += _GAP
    told = escape(f"Why “{explained.mention}” is linked to {explained.kb_id or 'nothing here'}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" role="img" '
        f'style="max-width: {_WIDTH}px; width: 100%" font-family="system-ui, sans-serif" '
        f'font-size="12" fill="currentColor"><title>{told}</title>{"".join(lines)}</svg>'
    )


def _parts(explained: LinkExplanation) -> "Sequence[tuple[str, tuple[FeatureShare, ...]]]":
    """Titles and bars, as the table of the terminal has them."""
    if not explained.concepts:
        return []
    first, runner = explained.concepts[0], explained.runner_up
    parts = [
        (f"Why {first.concept_id} comes first (nats)", first.features),
        ("Why it is thought right, or not (nats)", explained.link_features),
    ]
    if runner is not None:
        parts.append((f"What {runner.concept_id} lacks (nats)", runner.features))
    return [(title, shares[:_SHOWN]) for title, shares in parts if shares]
