"""Rows that `vedette replay` has written, by the rows of the data.

A page that was sent long after a row stands in a row of its own behind it. That has no row in the data: it is taken for a page of the newest row that the data has by then.
"""
import csv
import gzip
import os


def times_of(data):
    """First cells of a file of samples as they are written; the file may be packed."""
    path = data + ".gz" if os.path.exists(data + ".gz") else data
    with (gzip.open(path, "rt", newline="") if path.endswith(".gz") else open(path, newline="")) as f:
        rows = csv.reader(f)
        next(rows)
        return [row[0] for row in rows if row]


def read(replayed, times=None):
    """(scores, alerts, rows that page); `times` are the data's, None where it has none: then no row stands between others."""
    scores, alerts, pages = [], [], []
    with open(replayed, newline="") as f:
        for row in csv.DictReader(f):
            is_own = times is None or (len(scores) < len(times) and row["timestamp"] == times[len(scores)])
            if is_own:
                scores.append(float(row["score"]))
                alerts.append(row["alert"] == "1")
            place = len(scores) - 1
            if row["page"] == "1" and (not pages or pages[-1] != place):
                pages.append(place)
    if times is not None and len(scores) != len(times):
        raise SystemExit("%s has %d rows of the %d of its data" % (replayed, len(scores), len(times)))
    return scores, alerts, pages
