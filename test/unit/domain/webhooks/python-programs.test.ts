// D6: ordinary Python runs as it does elsewhere, or is refused by its line when it is saved.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pythonRunner } from "../../../../src/adapters/sandbox/child/python-program.ts";
import { pythonRefusal } from "../../../../src/domain/webhooks/python/python-refusals.ts";
import { rewrittenPython } from "../../../../src/domain/webhooks/python/python-rewriting.ts";

const runner = pythonRunner();
const isOffered = typeof runner !== "string";

function payload(code: string, event: object = { service_id: "shop", score: 0.91 }) {
  if (typeof runner === "string") throw new Error(runner);
  const answer = runner(code, JSON.stringify(event));
  return answer.kind === "payload" ? (JSON.parse(answer.text) as Record<string, unknown>) : answer;
}

const value = (expression: string) => payload(`def transform(event):\n    return {"x": ${expression}}`);

describe("D6: what the interpreter lacks", () => {
  it.each([
    ['"{} {}".format(1, "a")', '__format("{} {}", 1, "a")'],
    ['"a".format()', '__format("a")'],
    ['e["a"].b("c")[0].format(*x)', '__format(e["a"].b("c")[0], *x)'],
    ["a * b % c + d", "__percent(a * b , c) + d"],
    ["-a % b ** 2 % c", "__percent(__percent(-a , b ** 2) , c)"],
    ["[i for i in x if i % 2 == 0]", "[i for i in x if __percent(i , 2) == 0]"],
    ["f(a % b, *c)", "f(__percent(a , b), *c)"],
    ["datetime.datetime.now(timezone.utc)", "__now(datetime.datetime, timezone.utc)"],
    ['map("{}!".format, xs)', 'map((lambda *__a, **__k: __format("{}!", *__a, **__k)), xs)'],
    ["del d[a + 1], e.f[0]", "d.pop(a + 1); e.f.pop(0)"],
    ["if x: del y", "if x: y = None"],
    ["if x: del \\\n  y", "if x:  \\\n  y = None"],
    ["[del \na", "[ \na = None"],
    ['x = "% .format( #"  # % y', 'x = "% .format( #"  # % y'],
    ["x %= 3", "x %= 3"],
  ])("is rewritten: %s", (code, expected) => expect(rewrittenPython(code).code).toBe(expected));

  it("is rewritten line for line, and whatever else is there stays as it is", () => {
    const piece = fc.constantFrom(
      "a",
      "%",
      "(",
      ")",
      "[",
      "]",
      ".format(",
      "del ",
      "\n",
      '"x"',
      " + ",
      "'",
      '"""',
      "#",
      "\\\n",
      ".now()",
      ",",
      ":",
      "in ",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const code = pieces.join("");
        const { code: after } = rewrittenPython(code);
        expect(after.split("\n")).toHaveLength(code.split("\n").length);
        if (!/%|format|now|del/.test(code)) expect(after).toBe(code);
      }),
    );
  });

  it.runIf(isOffered).each([
    ['"{0} {b[k]!r:>5} {{}}".format("a", b={"k": "v"})', "a   'v' {}"],
    [
      '"{:>8.2f}|{:<5}|{:^5}|{:05d}|{:+d}|{:.1%}|{:#x}".format(3.14159, "x", "y", 42, 1, 0.256, 255)',
      "    3.14|x    |  y  |00042|+1|25.6%|0xff",
    ],
    ['"{:,} {:,.2f} {:>12,}".format(1234567, 9876543.219, 1234)', "1,234,567 9,876,543.22        1,234"],
    ['"{:{w}}|".format("a", w=5)', "a    |"],
    ['format(3.14159, ".2f")', "3.14"],
    ['"%s is %d, %5.2f|%-5s|%05d|%x|%r|%d%%" % ("a", 5, 3.14159, "ab", 42, 255, "q", 7)', "a is 5,  3.14|ab   |00042|ff|'q'|7%"],
    ['"%(a)s-%(b)d" % {"a": 1, "b": 2}', "1-2"],
    ['event["service_id"] + ": %.1f" % (event["score"] * 100 % 7)', "shop: 0.0"],
    ["-7 % 3 + 2 ** 5 % 7", 6],
    ['",".join(map("<{}>".format, [1, 2]))', "<1>,<2>"],
    ['str.format("{}-{}", 1, 2)', "1-2"],
  ])("works: %s", (expression, expected) => expect(value(expression)).toEqual({ x: expected }));

  it.runIf(isOffered).each([
    ["[1, 2, 3][:1] + [9, 9] + [1, 2, 3][2:]", [1, 9, 9, 3]],
    ['{**{"a": 1}, **{"b": 2}}', { a: 1, b: 2 }],
    ['sorted(["b", "A"], key=lambda x: x.lower())', ["A", "b"]],
    ["[y for y in [1, 2, 3] if y > 1][0]", 2],
    ['list(enumerate(["a"], 1))', [[1, "a"]]],
    ['[m.group(0) for m in __import_re.finditer("a.", "abacad")]', ["ab", "ac", "ad"]],
  ])("works as it is advised in place of what cannot be: %s", (expression, expected) => {
    expect(payload(`import re as __import_re\ndef transform(event):\n    return {"x": ${expression}}`)).toEqual({ x: expected });
  });

  it.runIf(isOffered)("works in statements: del, and the clock", () => {
    const program = `from datetime import datetime, timedelta, timezone
def transform(event):
    d = {"a": 1, "b": [1, 2, 3]}
    del d["a"], d["b"][0]
    d["year"] = datetime.now(timezone.utc).year >= 2024
    there = datetime.fromisoformat("2026-01-31T12:00:00+02:00").astimezone(timezone(timedelta(hours=-5)))
    d["there"] = there.isoformat()
    d["at"] = datetime.fromtimestamp(0.5, timezone.utc).isoformat()
    return d`;
    expect(payload(program)).toEqual({ b: [2, 3], year: true, at: "1970-01-01T00:00:00.500000+00:00", there: "2026-01-31T05:00:00-05:00" });
  });

  it.runIf(isOffered)("leaves a failure at its line", () => {
    expect(payload('def transform(event):\n    x = "%s" % 1\n    return {"a": event["none"]}')).toMatchObject({ kind: "failed", line: 3 });
    expect(payload('def transform(event):\n    return {"a": "%d" % "x"}')).toMatchObject({
      kind: "failed",
      line: 2,
      text: expect.stringMatching(/TypeError/),
    });
  });
});

describe("what cannot be there", () => {
  it.each([
    ["import json\nclass A:\n    pass", 2, /classes .*dicts/],
    ["def f():\n    yield 1", 2, /generators .*list/],
    ["x = 1\nmatch x:\n    case 1:\n        pass", 2, /match .*elif/],
    ["l = [1]\ndel l[0:1]", 2, /del .*pop/],
    ["import json, hashlib", 1, /module hashlib .*event_id/],
    ["from uuid import uuid4", 1, /module uuid .*event_id/],
    ["import os.path as p", 1, /module os .*no file/],
    ["from collections import defaultdict", 1, /setdefault/],
    ["import numpy", 1, /module numpy is not there; modules are/],
    ["def transform(e):\n    return open('/etc/passwd')", 2, /open\(\) .*no file/],
    ["x = eval('1')", 1, /eval/],
    ['x = f"{n:,.2f}"', 1, /"{:,}".format/],
    ["x = 'a'.translate({})", 1, /translate/],
    ["x = 3j", 1, /complex/],
    ["l = [1, 2]\nl[1:2] = [3]", 2, /slice .*new list/],
    ["@f\ndef g():\n    pass", 1, /decorators/],
    ["x = {'a': 1} | y", 1, /\{\*\*a, \*\*b\}/],
    ["x = sorted(xs, key=str.lower)", 1, /str\.lower .*lambda/],
    ["x = next((y for y in ys if y > 1), None)", 1, /next of a comprehension/],
    ["for i, x in enumerate(xs, start=1):\n    pass", 1, /enumerate\(xs, 1\)/],
    ["x = int(y, 16)", 1, /another base/],
    ["x = re.sub('a', lambda m: m.group(0), y)", 1, /finditer/],
    ["x = d.timetuple()[0]", 1, /timetuple/],
  ])("is named with its line and what to write instead: %s", (code, line, text) => {
    expect(pythonRefusal(code)).toEqual({ line, text: expect.stringMatching(text) });
  });

  it.each([
    "match = {'a': 1}\nmatch['a'] = 2\nx = match.get('a')",
    "def open(e):\n    return e\ndef transform(e):\n    return open(e)",
    "x = e.open()",
    "s = 'class yield import os'  # import os",
    "import json as j, math\nfrom datetime import datetime, timezone\nfrom typing import Any",
    "class_name = 1\nx = '{:,}'.format(1)",
    "del d['a']\ndel x",
    "raise ValueError('x') from None",
    "x = l[1:2]\nl[1] = l[0:1] == [2]\nd['a'] = 1",
    "x = 1 | 2\ny = a | b",
    "x = str.format('{}', 1)\ny = dict.fromkeys(a)\nz = isinstance(a, str)",
    "x = next(iter(a))\ny = int(a)\nz = enumerate(a, 1)\nw = re.sub('a', 'b', c)",
    "def f(a: str, b: dict[str, int] = {}) -> str:\n    return a",
  ])("is not found where there is none: %s", (code) => expect(pythonRefusal(code)).toBeUndefined());
});
