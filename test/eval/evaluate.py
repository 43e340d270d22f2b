#!/usr/bin/env python3
"""Detection measured on labelled public data: replays every set found under a folder and prints the scores beside bar and stretch.

Usage: evaluate.py FOLDER [--predictions FOLDER] [--only SET,...] [--halves N] [--kpi-seeds FIRST-LAST]
  FOLDER/nab   windows.json, <category>/<file>.csv.gz          FOLDER/smd   events.json, <machine>.{train,test}.csv.gz, rows of a minute
  FOLDER/msft  events.json, <category>/<series>.csv.gz         FOLDER/asd   the same, rows of five minutes
NAB is scored by the rows at which an alert opens, at one threshold; events and false alerts by the alert column. False alerts are alerts of which
less than half lies in events (score_events.py). Pages are scored beside them (page_report.py), those of planted KPIs too. Always-on and random detectors stand at the bottom: a measure that they do well on is broken.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import time

import numpy as np

import page_report
import replayed_rows
import score_events
import score_nab
import score_pages

HERE = os.path.dirname(os.path.abspath(__file__))
MAIN = os.path.join(HERE, "..", "..", "dist", "main.js")
SOURCES = """make eval needs labelled data: make eval EVAL_DATA=folder, with one or more of these below it
  nab   windows.json + <category>/<file>.csv.gz   github.com/numenta/NAB (data/, labels/combined_windows.json)
  msft  events.json + <category>/<file>.csv.gz    github.com/microsoft/cloud-monitoring-dataset (the label column as [first_row, last_row] ranges)
  smd   events.json + <machine>.train/.test.csv.gz  github.com/NetManAIOps/OmniAnomaly (ServerMachineDataset), 38 metrics, rows of a minute
  asd   events.json + <server>.train/.test.csv.gz   github.com/zhhlee/InterFusion (data/processed), 19 metrics, rows of five minutes"""
INTERVALS = {"smd": 60, "asd": 300}
VUS_ROWS = {"msft": 20, "smd": 100, "asd": 100}
# measure: (bar, stretch); for false alerts less is better
BARS = {
    ("nab", "standard score"): (55, 65),
    ("nab", "false alerts a day"): (0.25, 0.05),
    ("msft", "AUC-PR"): (0.52, 0.65),
    ("msft", "VUS-PR"): (0.52, 0.65),
    ("msft", "event F1"): (0.52, 0.65),
    ("msft", "false alerts a day"): (0.25, 0.05),
    ("smd", "best point F1"): (0.50, 0.55),
    ("smd", "VUS-PR"): (0.47, 0.52),
    ("smd", "event F1"): (0.52, 0.55),
    ("smd", "false alerts a day"): (1, None),
    ("asd", "best point F1"): (0.34, 0.50),
    ("asd", "VUS-PR"): (0.30, 0.50),
    ("asd", "event F1"): (0.45, 0.50),
    ("asd", "false alerts a day"): (1, None),
}


class NabFile:
    """One file: what it adds to the NAB sum, and its alerts."""

    def __init__(self, folder, name, windows, score, alert):
        ts = read_times(os.path.join(folder, name))
        wid, raw, scored, _ = score_nab.row_table(ts, windows)
        rises = np.r_[alert[:1], alert[1:] & ~alert[:-1]].astype(float)
        live = sorted(set(wid[scored & (wid >= 0)].tolist()))
        place = {w: i for i, w in enumerate(live)}
        ids = np.array([place.get(int(w), -1) for w in wid])
        self.total = len(windows)
        self.scored = len(live)
        self.sum, _ = score_nab.sweep(rises[scored], ids[scored], raw[scored], len(live), "standard", 0.5)
        at = {t: i for i, t in reversed(list(enumerate(ts)))}
        events = [(at[score_nab.parse_ts(a)], at[score_nab.parse_ts(b)]) for a, b in windows]
        self.times, self.ranges = ts, sorted(events)
        self.events = EventSeries(score, alert, sorted(events), (ts[-1] - ts[0]).total_seconds() / 86400.0, None)


class EventSeries:
    """One series: its alerts against its events, and the curves of its score."""

    def __init__(self, score, alert, events, days, vus_rows):
        self.days = days
        self.counts = score_events.ev_counts(alert, events, 0, 5, 10)
        labels = np.zeros(len(score), int)
        for a, b in events:
            labels[a:b + 1] = 1
        curves = score_events.point_metrics(score, labels) if vus_rows is not None else None
        self.curves = None if curves is None else (curves[0], curves[1], score_events.vus_pr(score, events, len(score), vus_rows))


def read_times(path):
    with score_events.op(path + ".gz" if os.path.exists(path + ".gz") else path) as f:
        next(f)
        return [score_nab.parse_ts(line.split(",", 1)[0]) for line in f if line.strip()]


def event_scores(series):
    found = sum(s.counts[0] for s in series)
    events = sum(s.counts[1] for s in series)
    right = sum(s.counts[2] for s in series)
    alerts = sum(s.counts[3] for s in series)
    recall = found / events if events else 0
    precision = right / alerts if alerts else 0
    f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0
    return f1, (alerts - right) / sum(s.days for s in series)


def measures(kind, items):
    """Measure -> value for some series of a set."""
    if kind == "nab":
        windows = sum(f.total for f in items)
        null = -sum(f.scored for f in items)
        score = 100.0 * (sum(f.sum for f in items) - null) / (windows - null) if windows - null else 0.0
        return {"standard score": score, "false alerts a day": event_scores([f.events for f in items])[1]}
    f1, false_alerts = event_scores(items)
    curves = [s.curves for s in items if s.curves is not None]
    mean = lambda i: float(np.mean([c[i] for c in curves])) if curves else float("nan")
    first = {"AUC-PR": mean(1)} if kind == "msft" else {"best point F1": mean(0)}
    return {**first, "VUS-PR": mean(2), "event F1": f1, "false alerts a day": false_alerts}


def load(kind, folder, predict):
    """Name -> series of a set, with predict(name) -> (score, alert)."""
    if kind == "nab":
        windows = json.load(open(os.path.join(folder, "windows.json")))
        return {n: NabFile(folder, n, w, *predict(n)) for n, w in sorted(windows.items())}
    events = json.load(open(os.path.join(folder, "events.json")))
    out = {}
    for name, ranges in sorted(events.items()):
        score, alert = predict(name)
        days = len(score) * INTERVALS[kind] / 86400.0 if kind in INTERVALS else score_events.span_days(folder, name)
        out[name] = EventSeries(score, alert, [tuple(r) for r in ranges], days, VUS_ROWS[kind])
    return out


def pages_of(kind, folder, items, paging):
    """Pages of a set against its incidents; paging(name) gives the rows that page. NAB's standard score by them, else None."""
    if kind == "nab":
        windows = json.load(open(os.path.join(folder, "windows.json")))
        files = {}
        pages = score_pages.Pages()
        for name, file in items.items():
            rows = paging(name)
            paged = np.zeros(len(file.times), bool)
            paged[rows] = True
            files[name] = NabFile(folder, name, windows[name], paged.astype(float), paged)
            pages.plus(score_pages.Pages().add(rows, file.ranges, file.events.days, 0, 0))
        return pages, measures(kind, list(files.values()))["standard score"]
    events = json.load(open(os.path.join(folder, "events.json")))
    return page_report.pages_of(events, lambda name: items[name].days, paging), None


def replay(kind, folder, out):
    interval = ["--interval", str(INTERVALS[kind])] if kind in INTERVALS else []
    start = time.monotonic()
    subprocess.run(["node", MAIN, "replay", *interval, "--out", out, folder], check=True)
    return time.monotonic() - start


def show(values, kind):
    for measure, value in values.items():
        bar, stretch = BARS[(kind, measure)]
        less = measure == "false alerts a day"
        good = lambda limit: limit is not None and (value <= limit if less else value >= limit)
        verdict = "stretch" if good(stretch) else "bar" if good(bar) else "below"
        digits = 1 if measure == "standard score" else 3
        yield "| %-5s | %-18s | %8.*f | %5s | %7s | %-7s |" % (kind, measure, digits, value, bar, "-" if stretch is None else stretch, verdict)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("folder", nargs="?")
    ap.add_argument("--predictions", help="where the predictions go (default: FOLDER of this run under dist/eval)")
    ap.add_argument("--only")
    ap.add_argument("--kpi-seeds", default="1-5", help="seeds of the planted KPIs; none for an empty text")
    ap.add_argument("--halves", type=int, default=0, help="also score so many random halves of each set")
    a = ap.parse_args()
    kinds = [k for k in ("nab", "msft", "smd", "asd") if a.folder and os.path.isdir(os.path.join(a.folder, k)) and (not a.only or k in a.only.split(","))]
    if not kinds:
        print(SOURCES, file=sys.stderr)
        return 1
    predictions = a.predictions or os.path.join(HERE, "..", "..", "dist", "eval")
    rng = np.random.default_rng(1)
    lines, bottom, stability, paged = [], [], [], []
    for kind in kinds:
        folder, out = os.path.join(a.folder, kind), os.path.join(predictions, kind)
        seconds = replay(kind, folder, out)
        lengths, pages = {}, {}

        def shipped(name):
            times = None if kind in INTERVALS else replayed_rows.times_of(os.path.join(folder, name))
            score, alert, pages[name] = replayed_rows.read(score_events.find(out, name), times)
            lengths[name] = len(score)
            return np.array(score), np.array(alert, bool)

        items = load(kind, folder, shipped)
        print("%s: %d series, %d rows replayed in %.1f s" % (kind, len(items), sum(lengths.values()), seconds), file=sys.stderr, flush=True)
        lines += show(measures(kind, list(items.values())), kind)
        always = load(kind, folder, lambda n: (np.ones(lengths[n]), np.ones(lengths[n], bool)))
        chance = load(kind, folder, lambda n: (rng.random(lengths[n]), rng.random(lengths[n]) < 0.01))
        for label, some in (("always on", always), ("random", chance)):
            text = ", ".join("%s %.3g" % pair for pair in measures(kind, list(some.values())).items())
            bottom.append("| %-9s | %-5s | %s |" % (label, kind, text))
        paged += page_report.rows(kind, *pages_of(kind, folder, items, pages.__getitem__))
        for label, rows in (("pages always", lambda n: list(range(lengths[n]))), ("pages never", lambda n: [])):
            scored, nab = pages_of(kind, folder, items, rows)
            bottom.append("| %-12s | %-5s | pages: F1 %.3g, false a day %.3g%s |" % (label, kind, scored.f1, scored.false_a_day, "" if nab is None else ", standard score %.3g" % nab))
        names = list(items)
        halves = [measures(kind, [items[names[i]] for i in rng.permutation(len(names))[:math.ceil(len(names) / 2)]]) for _ in range(a.halves)]
        for measure in halves[0] if halves else ():
            q = np.quantile([h[measure] for h in halves], [0, 0.25, 0.5, 0.75, 1])
            stability.append("| %-5s | %-18s | %s |" % (kind, measure, " | ".join("%.3g" % v for v in q)))
    first, _, last = a.kpi_seeds.partition("-")
    if first:
        paged += page_report.rows("kpi", page_report.planted(predictions, MAIN, range(int(first), int(last or first) + 1)))
    print("\n| pages of | measure                  |    value |   bar | stretch | reached |\n|---|---|---|---|---|---|")
    print("\n".join(paged), flush=True)
    print("\n| data  | measure            |    value |   bar | stretch | reached |\n|---|---|---|---|---|---|")
    print("\n".join(lines), flush=True)
    print("\nDetectors that know nothing, by the same measures:\n\n| detector  | data  | measures |\n|---|---|---|")
    print("\n".join(bottom))
    if stability:
        print("\n%d random halves of each set:\n\n| data  | measure | least | 25 %% | median | 75 %% | most |\n|---|---|---|---|---|---|---|" % a.halves)
        print("\n".join(stability))
    return 0


if __name__ == "__main__":
    sys.exit(main())
