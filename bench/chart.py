"""A small writer of bar charts as SVG."""
from xml.sax.saxutils import escape

COLOURS = {'ours': '#2563eb', 'peer': '#9ca3af', 'floor': '#d9c27e'}
BAR, GAP, LABEL, WIDTH, TOP = 20, 8, 200, 720, 58


def bars(title, subtitle, rows):
    """rows: [(label, value, kind)], kind one of COLOURS; returns the SVG."""
    height = TOP + len(rows) * (BAR + GAP) + 30
    largest = max(value for _, value, _ in rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="24" font-size="16" font-weight="bold" fill="#111827">{escape(title)}</text>',
        f'<text x="12" y="43" fill="#6b7280">{escape(subtitle)}</text>']
    for i, (label, value, kind) in enumerate(rows):
        y = TOP + i * (BAR + GAP)
        length = max(1, round(value / largest * (WIDTH - LABEL - 70), 1))
        parts += [
            f'<text x="{LABEL - 8}" y="{y + 15}" text-anchor="end" fill="#111827">{escape(label)}</text>',
            f'<rect x="{LABEL}" y="{y}" width="{length}" height="{BAR}" rx="2" fill="{COLOURS[kind]}"/>',
            f'<text x="{LABEL + length + 6}" y="{y + 15}" fill="#111827">{value:.2f}</text>']
    x = LABEL
    for kind, name in (('ours', 'cpp_output'), ('peer', 'other plugins'),
                       ('floor', 'a plugin that does nothing')):
        if any(row[2] == kind for row in rows):
            parts += [f'<rect x="{x}" y="{height - 22}" width="12" height="12" fill="{COLOURS[kind]}"/>',
                      f'<text x="{x + 17}" y="{height - 11}" fill="#6b7280">{name}</text>']
            x += 140
    return '\n'.join(parts + ['</svg>', ''])
