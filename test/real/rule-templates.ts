// Templates of annotations that Prometheus 2.42 and this server are to write alike: the forms that public rules use, and each function once at least.
// They are of an alert with the labels below, and ask for series of the same feed that do not change.

/** Labels of the series that the templates are of. */
export const TEMPLATED_LABELS = { instance: "db-1.example.org:9100", job: "node", mountpoint: "/var/lib", service_id: "shop" } as const;
/** Its value. */
export const TEMPLATED_VALUE = 1_234_567.891;
/** Values of `templated_many`, by service_id. */
export const TEMPLATED_MANY: Readonly<Record<string, number>> = { cart: 3, pay: 0.25, search: 71.5 };

const QUERIED = 'query "templated_many" | sortByLabel "service_id"';

const TEXTS = [
  "Host out of memory (instance {{ $labels.instance }})",
  "Node memory is filling up (< 10% left)\n  VALUE = {{ $value }}\n  LABELS = {{ $labels }}",
  "{{$labels.job}} of {{ $labels.instance }} is at {{$value}}",
  "{{ $labels.absent }}|{{ .Labels.job }}|{{ .Value }}|{{ $externalURL }}|{{ .ExternalURL }}",
  "{{ $value | humanize }}",
  "{{humanize $value}}",
  "{{ $value | humanize1024 }}",
  "{{ $value | humanizeDuration }}",
  "{{ $value | humanizePercentage }}",
  "{{ $value | humanizeTimestamp }}",
  '{{ printf "%.0f" $value }} {{ printf "%.2f" $value }}',
  '{{ $value | printf "%.1f" }} {{ $value | printf "%e" }} {{ $value | printf "%g" }}',
  '{{ printf "%8.3f|%-8.1f|%+.2f|%08.2f" 3.14159 2.5 1.0 7.125 }}',
  '{{ printf "%d %5d %x %c %q %v" 42 7 255 65 "a b" true }}',
  '{{ printf "%s has %s" $labels.job $labels.mountpoint }}',
  "{{ humanize 0.0 }} {{ humanize 0.00012 }} {{ humanize 1000.0 }} {{ humanize 1e21 }} {{ humanize -5500.0 }}",
  '{{ humanize "1234.5" }} {{ humanize1024 "1048576" }}',
  "{{ humanize1024 0.0 }} {{ humanize1024 1024.0 }} {{ humanize1024 1e12 }} {{ humanize1024 -2048.0 }}",
  "{{ humanizeDuration 0.0 }} {{ humanizeDuration 1.0 }} {{ humanizeDuration 59.5 }} {{ humanizeDuration 3600.0 }} {{ humanizeDuration 90061.0 }}",
  "{{ humanizeDuration 0.1 }} {{ humanizeDuration 0.0001 }} {{ humanizeDuration -90.0 }} {{ humanizeDuration 1e6 }}",
  "{{ humanizePercentage 0.1234567 }} {{ humanizePercentage 1.0 }} {{ humanizePercentage 0.0 }} {{ humanizePercentage -0.5 }}",
  "{{ humanizeTimestamp 1435065584.128 }} {{ humanizeTimestamp 0.0 }}",
  "{{ toTime 1435065584.128 }} {{ $value | toTime }}",
  "{{ (toTime 1435065584.128).Year }} {{ (toTime 1435065584.128).Month }} {{ (1435065584.0 | toTime).Weekday }} {{ (toTime 1435065584.128).YearDay }}",
  '{{ (toTime 1435065584.128).Format "2006-01-02T15:04:05.000Z07:00 Mon Jan _2 3:04PM MST -0700, Monday 02-January-06 .999" }}',
  '{{ title "some words here" }} {{ toUpper "shOuT" }} {{ toLower "HuSh" }}',
  '{{ match "^db-[0-9]+" $labels.instance }} {{ match "web" $labels.instance }}',
  '{{ reReplaceAll "(.*):.*" "$1" $labels.instance }}',
  '{{ reReplaceAll "[aeiou]" "_" "a vowel is out" }}',
  "{{ stripPort $labels.instance }} {{ stripDomain $labels.instance }}",
  '{{ stripPort "[::1]:80" }} {{ stripPort "no-port" }} {{ stripDomain "10.0.0.1:80" }} {{ stripDomain "alone" }}',
  '{{ parseDuration "1h2m10ms" }} {{ parseDuration "90s" | humanizeDuration }}',
  '{{ graphLink "up == 0" }} {{ tableLink "rate(x[5m]) > 1" }}',
  "{{ externalURL }} {{ pathPrefix }}",
  '{{ safeHtml "<b>&</b>" }} {{ html "<b>&</b>" }} {{ js "it\'s <b>" }} {{ urlquery "a b&c" }}',
  "{{ with args 1 2 }}{{ .arg0 }}-{{ .arg1 }}{{ end }}",
  '{{ define "one" }}<{{ .arg0 }}|{{ .arg1 }}>{{ end }}{{ template "one" (args "x" 3) }}',
  '{{ query "templated_value" | first | value }}',
  '{{ query "templated_value" | first | label "mountpoint" }}',
  '{{ with query "templated_many > 1000" }}some{{ else }}none{{ end }}',
  '{{ query "sum(templated_many)" | first | value | humanize }}',
  `{{ range ${QUERIED} }}{{ .Labels.service_id }}={{ .Value }};{{ end }}`,
  `{{ range $i, $one := ${QUERIED} }}{{ $i }}:{{ $one | label "service_id" }} {{ end }}`,
  `{{ with ${QUERIED} }}{{ . | first | value | printf "%.3f" }}{{ end }}`,
  `{{ range ${QUERIED} }}{{ if gt .Value 1.0 }}{{ .Labels.service_id }} {{ end }}{{ end }}`,
  `{{ len (${QUERIED}) }} {{ (index (${QUERIED}) 1).Value }}`,
  '{{ range query (printf "templated_many{service_id=%q}" "pay") }}{{ .Value | humanizePercentage }}{{ end }}',
  "{{ if gt $value 1e6 }}much{{ else if gt $value 1e3 }}some{{ else }}little{{ end }}",
  '{{ if and (eq $labels.job "node") (ne $labels.service_id "pay") }}yes{{ end }}',
  "{{ if or (lt $value 1.0) (ge $value 1.0) }}a{{ end }}{{ if not (le $value 1.0) }}b{{ end }}",
  '{{ eq "a" "b" "a" }} {{ lt 1 2 }} {{ len "five5" }} {{ slice "abcdef" 1 3 }} {{ index "abc" 1 }}',
  '{{ print "a" 1 2 "b" }} {{ println "x" 2.5 }}',
  "{{ range $name, $text := $labels }}{{ $name }}={{ $text }},{{ end }}",
  '{{ $host := stripPort $labels.instance }}{{ $host | toUpper | printf "%q" }}',
  '{{- /* a comment */ -}}  trimmed  {{- " left" }}',
  '{{ "quoted \\"text\\"" }} {{ `raw\\n` }} {{ \'a\' }} {{ 0x1F }} {{ 1_000 }} {{ 1e3 }}',
  '{{ $value | humanize | len }} {{ printf "%T" $value }}',
  '{{ with $x := 5 }}{{ $x }}{{ end }}{{ with "" }}no{{ else }}empty{{ end }}',
  '{{ range $i, $c := query "templated_many > 50" }}{{ if $i }}, {{ end }}{{ $c.Labels.service_id }}{{ else }}none{{ end }}',
  "Filesystem on {{ $labels.instance }} at {{ $labels.mountpoint }} has only {{ $value | humanize1024 }}B left",
  '{{ $labels.job }}: {{ $value | humanizePercentage }} of {{ with query "templated_many" }}{{ len . }}{{ end }} services',
  '{{ strvalue (query "templated_value" | first) }}|{{ first (query "templated_value") | value | humanizeDuration }}',
];

/** By the name of their annotation. */
export const TEMPLATES: Readonly<Record<string, string>> = Object.fromEntries(
  TEXTS.map((text, index) => [`template_${String(index + 1).padStart(2, "0")}`, text]),
);
