#!/usr/bin/env python3
"""Recall of pages against false pages a series-day, as z_threshold moves the bars: one figure per set, as a picture (SVG).

Usage: page_curve.py FOLDER [--only SET,...] [--thresholds Z,...] [--kpi-seeds FIRST-LAST] [--out FILE.svg]
Each threshold is a run of evaluate.py with WATCHDOG_Z_SCORE_THRESHOLD; 3 is the default, at which figures are reported.
"""
import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTH, HEIGHT, LEFT, TOP, PLOT_W, PLOT_H = 340, 250, 52, 34, 264, 164


def points(folder, only, seeds, thresholds):
    """{set: [(threshold, false pages a day, recall)]}"""
    found = {}
    for z in thresholds:
        env = {**os.environ, "WATCHDOG_Z_SCORE_THRESHOLD": z, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, os.path.join(HERE, "evaluate.py"), folder, "--only", only, "--kpi-seeds", seeds]
        text = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
        rows = re.findall(r"^\| (\w+) +\| (recall|false pages a day) +\| +([\d.]+) \|", text, re.M)
        measures = {}
        for name, measure, value in rows:
            measures.setdefault(name, {})[measure] = float(value)
        for name, of in measures.items():
            if len(of) == 2:
                found.setdefault(name, []).append((float(z), of["false pages a day"], of["recall"]))
                print(f"{name}: z_threshold {z}: recall {of['recall']:.3f}, false pages a day {of['false pages a day']:.4f}", flush=True)
    return found


def figure(name, curve, x0):
    curve = sorted(curve, key=lambda point: point[1])
    most = max(0.05, max(point[1] for point in curve) * 1.15)
    x = lambda false: x0 + LEFT + PLOT_W * false / most
    y = lambda recall: TOP + PLOT_H * (1 - recall)
    parts = [f'<text x="{x0 + LEFT}" y="20" font-weight="bold">{name}</text>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<line x1="{x0 + LEFT}" x2="{x0 + LEFT + PLOT_W}" y1="{y(share):.1f}" y2="{y(share):.1f}" stroke="#ccc"/>')
        parts.append(f'<text x="{x0 + LEFT - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{share:g}</text>')
        parts.append(f'<text x="{x(share * most):.1f}" y="{TOP + PLOT_H + 18}" text-anchor="middle">{share * most:.2g}</text>')
    line = " ".join(f"{x(false):.1f},{y(recall):.1f}" for _, false, recall in curve)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#2563a8" stroke-width="2"/>')
    for z, false, recall in curve:
        fill = "#2563a8" if z == 3 else "#fff"
        parts.append(f'<circle cx="{x(false):.1f}" cy="{y(recall):.1f}" r="4" fill="{fill}" stroke="#2563a8" stroke-width="2"/>')
        parts.append(f'<text x="{x(false) + 7:.1f}" y="{y(recall) - 7:.1f}" font-size="10">{z:g}</text>')
    parts.append(f'<text x="{x0 + LEFT + PLOT_W / 2}" y="{TOP + PLOT_H + 38}" text-anchor="middle">false pages a day</text>')
    return "\n".join(parts)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("folder")
    ap.add_argument("--only", default="msft,asd,smd")
    ap.add_argument("--thresholds", default="2,2.5,3,4,6")
    ap.add_argument("--kpi-seeds", default="1-1")
    ap.add_argument("--out", default=os.path.join(HERE, "..", "..", "docs", "images", "pages-curve.svg"))
    a = ap.parse_args()
    found = points(a.folder, a.only, a.kpi_seeds, a.thresholds.split(","))
    body = "\n".join(figure(name, curve, i * WIDTH) for i, (name, curve) in enumerate(found.items()))
    width = WIDTH * len(found)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" font-family="sans-serif" font-size="11" fill="#333">\n'
        f"<title>Recall of pages against false pages a day, as z_threshold moves the bars</title>\n"
        f'<rect width="{width}" height="{HEIGHT}" fill="#fff"/>\n<g>\n{body}\n</g>\n'
        f'<text x="12" y="{TOP + PLOT_H / 2}" transform="rotate(-90 12 {TOP + PLOT_H / 2})" text-anchor="middle">recall of pages</text>\n</svg>\n'
    )
    with open(a.out, "w") as out:
        out.write(svg)


if __name__ == "__main__":
    main()
