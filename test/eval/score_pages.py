#!/usr/bin/env python3
"""Pages against labelled incidents (standard library and numpy).

usage: score_pages.py --events DIR/events.json --data DIR (--pages pages.json | --replayed DIR) [--before 3] [--after 12] [--out FILE]
  pages.json   {"file.csv": ["2026-01-01T00:00:00Z", ...]}: the moments at which somebody would have been told, file names as in events.json
  --replayed   a folder that `vedette replay` wrote: rows whose column page is 1

An incident is found when a page lies between `before` rows ahead of it and `after` rows behind its last row. Each page that lies in no incident is false.
Precision is that of incidents found beside false pages, so that a second page of an incident costs nothing here: pages per found incident are told apart.
"""
import argparse
import bisect
import datetime
import gzip
import json
import os
import statistics

import replayed_rows


class Pages:
    """What the pages of some series come to."""

    def __init__(self):
        self.incidents = self.found = self.pages = self.false = self.inside = 0
        self.days = 0.0
        self.delays = []

    def add(self, rows, events, days, before=3, after=12):
        near = lambda row, first, last: first - before <= row <= last + after
        for first, last in events:
            hits = [row for row in rows if near(row, first, last)]
            if hits:
                self.found += 1
                self.inside += len(hits)
                self.delays.append(max(0, min(hits) - first))
        self.incidents += len(events)
        self.pages += len(rows)
        self.false += sum(not any(near(row, first, last) for first, last in events) for row in rows)
        self.days += days
        return self

    def plus(self, other):
        for name in ("incidents", "found", "pages", "false", "inside", "days"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.delays += other.delays
        return self

    @property
    def recall(self):
        return self.found / self.incidents if self.incidents else 0.0

    @property
    def precision(self):
        return self.found / (self.found + self.false) if self.found + self.false else 0.0

    @property
    def f1(self):
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    @property
    def false_a_day(self):
        return self.false / self.days if self.days else 0.0

    @property
    def pages_per_found(self):
        return self.inside / self.found if self.found else 0.0

    @property
    def delay(self):
        return statistics.median(self.delays) if self.delays else float("nan")

    def told(self):
        return {"incidents": self.incidents, "recall": round(self.recall, 3), "pages": self.pages, "false_per_series_day": round(self.false_a_day, 4),
                "precision": round(self.precision, 3), "f1": round(self.f1, 3), "pages_per_found": round(self.pages_per_found, 2),
                "delay_rows": self.delay if self.delays else None}


def parse(text):
    return datetime.datetime.fromisoformat(text.strip().strip('"').replace("Z", "").replace("T", " ")[:19]).timestamp()


def times_of(path):
    path = path + ".gz" if os.path.exists(path + ".gz") else path
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as f:
        next(f)
        return [parse(line.split(",", 1)[0]) for line in f if line.strip()]


def replayed(a, name):
    """Rows of a replayed file that people were told in."""
    return replayed_rows.read(os.path.join(a.replayed, name), replayed_rows.times_of(os.path.join(a.data, name)))[2]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--events", required=True)
    ap.add_argument("--data", required=True)
    ap.add_argument("--pages")
    ap.add_argument("--replayed")
    ap.add_argument("--before", type=int, default=3)
    ap.add_argument("--after", type=int, default=12)
    ap.add_argument("--out")
    a = ap.parse_args()
    events = json.load(open(a.events))
    told = json.load(open(a.pages)) if a.pages else None
    groups = {}
    for name, of in events.items():
        times = times_of(os.path.join(a.data, name))
        rows = replayed(a, name) if told is None else [bisect.bisect_left(times, parse(p)) for p in told.get(name, [])]
        one = Pages().add(rows, of, (times[-1] - times[0]) / 86400, a.before, a.after)
        for key in ("all", name.replace("/", "-").split("-")[0]):
            groups.setdefault(key, Pages()).plus(one)
    text = json.dumps({key: pages.told() for key, pages in groups.items()}, indent=1)
    print(text)
    if a.out:
        open(a.out, "w").write(text)


if __name__ == "__main__":
    main()
