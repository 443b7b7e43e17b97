"""Line charts with logarithmic axes, as SVG."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Final

type Points = Sequence[tuple[float, float]]

WIDTH: Final = 640
HEIGHT: Final = 400
LEFT: Final = 90
RIGHT: Final = 120  # with the names of the series
TOP: Final = 40
BOTTOM: Final = 50
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
STEPS: Final = (1, 2, 5, 10)  # of the marks on the vertical axis


def write(path: Path, title: str, horizontal: str, vertical: str, series: Mapping[str, Points]) -> None:
    """Write a chart of points by the name of their series; both axes are logarithmic, so numbers must be above 0."""
    path.write_text(chart(title, horizontal, vertical, series))


def chart(title: str, horizontal: str, vertical: str, series: Mapping[str, Points]) -> str:
    """The chart as SVG. Raises ValueError where there are no points, or not all numbers are above 0."""
    across = sorted({x for points in series.values() for x, _ in points})
    upwards = [y for points in series.values() for _, y in points]
    if not across or min(*across, *upwards) <= 0:
        raise ValueError("a chart needs points, and numbers above 0")
    marks = scale(min(upwards), max(upwards))

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            LEFT + (WIDTH - LEFT - RIGHT) * share(x, across[0], across[-1]),
            HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share(y, marks[0], marks[-1]),
        )

    parts = [text(LEFT, TOP / 2, title, "font-weight='bold'")]
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, horizontal, "text-anchor='middle'"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(text(16, middle, vertical, f"text-anchor='middle' transform='rotate(-90 16 {middle})'"))
    for mark in marks:
        x, y = place(across[0], mark)
        parts.append(f"<path d='M{x:.1f} {y:.1f}H{WIDTH - RIGHT}' stroke='#ddd'/>")
        parts.append(text(x - 6, y + 4, short(mark), "text-anchor='end'"))
    for mark in across:
        x, y = place(mark, marks[0])
        parts.append(f"<path d='M{x:.1f} {y:.1f}v5' stroke='#444'/>")
        parts.append(text(x, y + 18, short(mark), "text-anchor='middle'"))
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [place(x, y) for x, y in sorted(points)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f"<polyline points='{line}' fill='none' stroke='{colour}' stroke-width='2'/>")
        parts += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{colour}'/>" for x, y in places]
        parts.append(text(WIDTH - RIGHT + 10, TOP + 18 * number + 12, name, f"fill='{colour}'"))
    view = f"viewBox='0 0 {WIDTH} {HEIGHT}' font-family='sans-serif' font-size='12'"
    head = f"<svg xmlns='http://www.w3.org/2000/svg' {view}>"
    return "\n".join([head, f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>", *parts, "</svg>", ""])


def share(value: float, lowest: float, highest: float) -> float:
    """Where a value lies between two others on a logarithmic axis, 0 to 1."""
    return 0.5 if lowest == highest else math.log(value / lowest) / math.log(highest / lowest)


def scale(lowest: float, highest: float) -> list[float]:
    """Round numbers, the first at most `lowest` and the last at least `highest`."""
    powers = range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)
    marks = sorted({step * 10.0**power for power in powers for step in STEPS})
    first = max(index for index, mark in enumerate(marks) if mark <= lowest)
    last = min(index for index, mark in enumerate(marks) if mark >= highest)
    return marks[first : max(last, first + 1) + 1]


def short(number: float) -> str:
    """A number with the suffix of its thousands: 20k, 1.5M, 2G; whole powers of 2 from 1,024 on as 1Ki, 1Mi."""
    if number >= 1024 and number == 1 << int(math.log2(number)):
        power = int(math.log2(number)) // 10
        return f"{int(number) >> 10 * power}{' KMG'[power]}i"
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{suffix}"
    return f"{number:g}"


def text(x: float, y: float, words: str, attributes: str) -> str:
    """Words at a place."""
    return f"<text x='{x:.1f}' y='{y:.1f}' {attributes}>{escape(words)}</text>"
