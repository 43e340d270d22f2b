"""Pages of each set against its incidents, as rows for evaluate.py, and the planted KPIs (gen_kpi.py) among the sets.

A page is a row whose column `page` is 1. An incident is found when a page lies between 3 rows before it and 12 rows behind it (score_pages.py). NAB has windows of hours instead: it is scored by
its own rules over the rows that page, and a page outside all windows is false.
"""
import json
import os
import subprocess
import sys

import replayed_rows
import score_pages

HERE = os.path.dirname(os.path.abspath(__file__))
# measure: (bar, stretch); for false pages, pages per found incident and rows to the page less is better
BARS = {
    "msft": {"F1": (0.63, 0.72), "false pages a day": (0.10, 0.05)},
    "kpi": {"F1": (0.82, 0.85), "false pages a day": (0.03, 0.02)},
    "smd": {"F1": (0.55, 0.60), "false pages a day": (0.5, None)},
    "asd": {"F1": (0.50, 0.60), "false pages a day": (0.25, None)},
    "nab": {"standard score": (62, 70), "false pages a day": (0.15, 0.05)},
}
ALSO = {"pages per found incident": (1.5, 1.2), "rows to the page, median": (2, 1)}


def pages_of(events, days, rows_of):
    """All of a set: rows_of(name) gives the rows that page."""
    all_pages = score_pages.Pages()
    for name, ranges in events.items():
        all_pages.plus(score_pages.Pages().add(rows_of(name), [tuple(r) for r in ranges], days(name)))
    return all_pages


def rows(kind, pages, nab_score=None):
    """Lines of the table."""
    values = {"F1": pages.f1, "recall": pages.recall, "false pages a day": pages.false_a_day, "pages per found incident": pages.pages_per_found,
              "rows to the page, median": pages.delay}
    if kind == "nab":
        values = {"standard score": nab_score, "false pages a day": pages.false_a_day}
    for measure, value in values.items():
        bar, stretch = {**ALSO, **BARS[kind]}.get(measure, (None, None))
        less = measure not in ("F1", "recall", "standard score")
        good = lambda limit: limit is not None and (value <= limit if less else value >= limit)
        reached = "" if bar is None else "stretch" if good(stretch) else "bar" if good(bar) else "below"
        yield "| %-5s | %-24s | %8.3f | %5s | %7s | %-7s |" % (kind, measure, value, "-" if bar is None else bar, "-" if stretch is None else stretch, reached)


def planted(folder, main, seeds):
    """Pages of the planted KPIs of these seeds, replayed below `folder`."""
    all_pages = score_pages.Pages()
    for seed in seeds:
        data, out = os.path.join(folder, "kpi-%d" % seed), os.path.join(folder, "kpi-%d-pages" % seed)
        subprocess.run([sys.executable, os.path.join(HERE, "gen_kpi.py"), data, "--seed", str(seed)], check=True)
        subprocess.run(["node", main, "replay", "--out", out, data], check=True)
        events = json.load(open(os.path.join(data, "events.json")))

        def days(name):
            times = score_pages.times_of(os.path.join(data, name))
            return (times[-1] - times[0]) / 86400

        all_pages.plus(pages_of(events, days, lambda name: replayed_rows.read(os.path.join(out, name), replayed_rows.times_of(os.path.join(data, name)))[2]))
    return all_pages
