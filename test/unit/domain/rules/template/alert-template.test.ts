import { describe, expect, it } from "vitest";
import { TEMPLATE_OUTPUT_CHARACTERS_MAX } from "../../../../../src/core/config/rule-limits.ts";
import { Labels } from "../../../../../src/domain/promql/labels/labels.ts";
import { QueryError } from "../../../../../src/domain/promql/query-error.ts";
import { AlertTemplate } from "../../../../../src/domain/rules/template/alert-template.ts";

const labels = Labels.of([
  ["__name__", "v"],
  ["job", "test"],
  ["instance", "i:1"],
]);
const world = {
  nowMs: 1_500_000_000_500,
  externalUrl: "http://host:9/p/q",
  query: (text: string) => {
    if (text === "bad") throw new QueryError("too much");
    return text === "none" ? [] : ["c", "b"].map((a, index) => ({ labels: Labels.of([["a", a]]), value: index + 1 }));
  },
};

function expand(text: string, value = 1234567.891): string {
  const data = { labels, externalLabels: Labels.of([["el", "E"]]), value };
  return new AlertTemplate("A", text).expand(data, world);
}

function problem(text: string): string | undefined {
  return new AlertTemplate("A", text).problem?.replace("template: __alert_A:1: ", "");
}

// Each as promtool 2.42 expands it, but for `now`, `toTime` and `toDuration`, which are newer.
describe("a template of an alert", () => {
  it.each([
    ["plain }} {", "plain }} {"],
    ["{{ $value }} {{ .Value }}", "1.234567891e+06 1.234567891e+06"],
    ["{{ $labels }}", "map[__name__:v instance:i:1 job:test]"],
    ["{{ $labels.job }}|{{ $labels.nothing }}|{{ .Labels.job }}", "test||test"],
    ["{{ $externalLabels.el }} {{ $externalURL }} {{ externalURL }} {{ pathPrefix }}", "E http://host:9/p/q http://host:9/p/q /p/q"],
    ["{{ $value | humanize }} {{ humanize1024 $value }} {{ humanizePercentage 0.123456 }}", "1.235M 1.177Mi 12.35%"],
    ["{{ humanizeDuration 90061 }} {{ humanizeDuration -3661 }} {{ humanizeDuration 0.0005 }}", "1d 1h 1m 1s -1h 1m 1s 500us"],
    ["{{ humanizeTimestamp 1435065584.128 }} {{ humanize 0.000123 }}", "2015-06-23 13:19:44.128 +0000 UTC 123u"],
    ["{{ now }} {{ toTime 1500000000 }} {{ toDuration 5400.5 }}", "1.5000000005e+09 2017-07-14 02:40:00 +0000 UTC 1h30m0.5s"],
    ["{{ (toTime 1435065584.128).Year }} {{ (toTime 1435065584.128).Month }} {{ (1435065584.0 | toTime).Weekday }}", "2015 June Tuesday"],
    [
      "{{ $t := toTime 1435065584.128 }}{{ $t.Day }} {{ $t.Hour }}:{{ $t.Minute }}:{{ $t.Second }} {{ $t.YearDay }} {{ $t.Unix }}",
      "23 13:19:44 174 1435065584",
    ],
    [
      '{{ (toTime 1435065584.128).Format "2006-01-02T15:04:05.000Z07:00 Mon Jan _2 3:04PM MST -0700" }}',
      "2015-06-23T13:19:44.128Z Tue Jun 23 1:19PM UTC +0000",
    ],
    ['{{ (toTime 1435065584).Format "Monday, 02-Jan-06 15:04:05.999 002 January" }}', "Tuesday, 23-Jun-15 13:19:44 174 June"],
    ['{{ printf "%.0f %.0f %.0f %.1f" 0.5 1.5 2.5 0.25 }}', "0 2 2 0.2"],
    ['{{ printf "%5.1f|%-8.2f|%08.3f|%+.1f" 2.5 2.5 2.5 2.5 }}', "  2.5|2.50    |0002.500|+2.5"],
    ['{{ printf "%e %g %.3g" $value $value $value }}', "1.234568e+06 1.234567891e+06 1.23e+06"],
    ['{{ printf "%d %s" $value $value }}', "%!d(float64=1.234567891e+06) %!s(float64=1.234567891e+06)"],
    [
      '{{ printf "%d %s %q %v" 12 "a" "b" true }} {{ printf "%s" }} {{ printf "%s" "a" "b" }}',
      '12 a "b" true %!s(MISSING) a%!(EXTRA string=b)',
    ],
    ['{{ printf "%[2]s %[1]s %T" "a" "b" }} {{ printf "%x %X %o" 255 255 8 }}', "b a string ff FF 10"],
    ["{{ if gt $value 5.0 }}big{{ else }}small{{ end }}", "big"],
    ['{{ if eq $labels.job "a" }}A{{ else if eq $labels.job "test" }}T{{ else }}N{{ end }}', "T"],
    ["{{ with $labels.no }}{{ . }}{{ else }}none{{ end }}", "none"],
    ["{{ range $k, $v := $labels }}{{ $k }}={{ $v }};{{ end }}", "__name__=v;instance=i:1;job=test;"],
    ['{{ range query "x" | sortByLabel "a" }}{{ label "a" . }}:{{ value . }} {{ end }}', "b:2 c:1 "],
    ['{{ query "x" | first | value }} {{ query "x" | len }} {{ (query "x" | first).Labels.a }}', "1 2 c"],
    ['{{ range $i, $e := query "x" }}{{ if $i }}, {{ end }}{{ $e.Value }}{{ end }}', "1, 2"],
    ['{{ range query "x" }}{{ if eq .Value 2.0 }}{{ break }}{{ end }}{{ .Value }}{{ end }}', "1"],
    ['{{ "hello world-foo" | title }} {{ toUpper "aB" }} {{ toLower "aB" }}', "Hello World-Foo AB ab"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Go's template of a replacement
    ['{{ match "a.*" "xab" }} {{ reReplaceAll "(.*)-(.*)" "$2_${1}x" "foo-bar" }}', "true foox"],
    [
      '{{ stripPort "h:90" }} {{ stripPort "[::1]:80" }} {{ stripDomain "a.b.c:80" }} {{ stripDomain "10.0.0.1:80" }}',
      "h ::1 a:80 10.0.0.1:80",
    ],
    ['{{ graphLink "up > 1" }} {{ tableLink "x[5m]" }}', "/graph?g0.expr=up+%3E+1&g0.tab=0 /graph?g0.expr=x%5B5m%5D&g0.tab=1"],
    ["{{ $x := 5 }}{{ $x }}{{ $x = 6 }}{{ $x }}", "56"],
    ["a {{- 1 -}} b {{/* c */}} d {{- /* e */ -}}   f", "a1b  df"],
    ['{{ define "T" }}<{{ . }}>{{ end }}{{ template "T" 1 }}{{ template "T" "s" }}', "<1><s>"],
    ['{{ and 1 0 }} {{ or 0 "x" }} {{ not 1 }} {{ index $labels "job" }} {{ slice "abc" 1 2 }}', "0 x false test b"],
    ['{{ print 1 2 "a" 3 }} {{ html "<a>" }} {{ urlquery "a b" }} {{ len "é" }}', "1 2a3 &lt;a&gt; a+b 2"],
    ["{{ 0x10 }} {{ 'a' }} {{ 1.5 }} {{ true }} {{ `raw` }}", "16 97 1.5 true raw"],
  ])("%s is %s", (text, expected) => {
    expect(expand(text)).toBe(expected);
  });

  it.each([
    ["{{ if gt $value 5 }}{{ end }}", "<gt $value 5>: error calling gt: incompatible types for comparison"],
    ['{{ query "none" | first }}', "<first>: error calling first: first() called on vector with no elements"],
    ['{{ query "bad" }}', '<query "bad">: error calling query: too much'],
    ['{{ humanize "abc" }}', '<humanize "abc">: error calling humanize: strconv.ParseFloat: parsing "abc": invalid syntax'],
    ["{{ toUpper 5 }}", "<5>: expected string; found 5"],
    ["{{ toUpper $value }}", "<$value>: wrong type for value; expected string; got float64"],
    ["{{ humanize }}", "<humanize>: wrong number of args for humanize: want 1 got 0"],
    ["{{ $labels.job.foo }}", "<$labels.job.foo>: can't evaluate field foo in type string"],
    ['{{ template "x" }}', '<{{template "x"}}>: template "x" not defined'],
    ['{{ match "a(" "x" }}', "error calling match: error parsing regexp: missing closing ): `a(`"],
  ])("that fails, %s, becomes a text that says why", (text, reason) => {
    const found = expand(text);
    expect(found).toMatch(
      /^<error expanding template: error executing template __alert_A: template: __alert_A:1:\d+: executing "__alert_A" at /,
    );
    expect(found).toContain(reason);
  });

  it.each([
    ["{{ $foo }}", 'undefined variable "$foo"'],
    ["{{ foo }}", 'function "foo" not defined'],
    ["{{ if }}x{{ end }}", "missing value for if"],
    ["{{ if $value }}x", "unexpected EOF"],
    ["{{ end }}", "unexpected {{end}}"],
    ["{{ $value", "unclosed action"],
    ['{{ "abc }}', "unterminated quoted string"],
    ["{{ ( $value }}", "unclosed left paren"],
    ["{{ $value | 5 }}", "non executable command in pipeline stage 2"],
    ["{{ break }}", "{{break}} outside {{range}}"],
    ["{{ $x, $y := $labels }}", "too many declarations in command"],
    ["{{/* open }}", "unclosed comment"],
    ["{{}}", "missing value for command"],
    ['{{ define "x" }}{{ $value }}{{ end }}', 'undefined variable "$value"'],
    [`${"{{ if 1 }}".repeat(200)}`, "nested more than 100 levels deep"],
  ])("that cannot be read, %s, has Go's words", (text, reason) => {
    expect(problem(text)).toBe(reason);
    expect(expand(text)).toContain(`error parsing template __alert_A: template: __alert_A:1: ${reason}`);
  });

  it("is bounded in loops, depth, queries and what it writes", () => {
    expect(expand("{{ range 10000000000 }}{{ end }}")).toContain("more than 100000 steps");
    expect(expand('{{ define "T" }}{{ template "T" }}{{ end }}{{ template "T" }}')).toContain("exceeded maximum template depth");
    expect(expand('{{ range 100 }}{{ query "x" | len }}{{ end }}')).toContain("more than 20 queries");
    expect(expand(`{{ range 100000 }}${"a".repeat(1_000)}{{ end }}`)).toContain("writes more than");
    expect(expand('{{ printf "%999999999d" 1 }}').length).toBeLessThan(TEMPLATE_OUTPUT_CHARACTERS_MAX);
  });

  it("reads no members of the language's own objects", () => {
    expect(expand("{{ $labels.constructor }}|{{ $labels.__proto__ }}")).toBe("|");
    expect(expand("{{ .constructor }}")).toContain("can't evaluate field constructor");
  });
});
