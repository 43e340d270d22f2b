// Reads the Prometheus text format 0.0.4 as strictly as a scraper: every line is a HELP, a TYPE or a sample of the family announced last.

export interface ExposedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ExposedFamily {
  readonly type: string;
  readonly samples: ExposedSample[];
}

const TYPE_LINE = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary|untyped)$/;
const HELP_LINE = /^# HELP [a-zA-Z_:][\w:]* .*$/;
const SAMPLE_LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (NaN|[+-]Inf|[-+.\deE]+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;

/** The families of a page by name; throws at the first line that is none of the format. */
export function parseExposition(text: string): ReadonlyMap<string, ExposedFamily> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, ExposedFamily>();
  let current = "";
  for (const line of text.slice(0, -1).split("\n")) {
    if (HELP_LINE.test(line)) continue;
    const typed = TYPE_LINE.exec(line);
    if (typed === null) takeSample(families.get(current), current, line);
    else {
      current = typed[1] as string;
      if (families.has(current)) throw new Error(`${current} is announced twice`);
      families.set(current, { type: typed[2] as string, samples: [] });
    }
  }
  return families;
}

function takeSample(family: ExposedFamily | undefined, familyName: string, line: string): void {
  const parts = SAMPLE_LINE.exec(line);
  if (parts === null || family === undefined) throw new Error(`no line of the format: ${line}`);
  const [, name = "", labels = "", value = ""] = parts;
  const own = family.type === "histogram" ? [`${familyName}_bucket`, `${familyName}_sum`, `${familyName}_count`] : [familyName];
  if (!own.includes(name)) throw new Error(`${name} stands among the samples of ${familyName}`);
  family.samples.push({ name, labels: parseLabels(labels), value: Number(value.replace("Inf", "Infinity")) });
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  let end = 0;
  for (let found = LABEL.exec(text); found !== null && found[0] !== ""; found = LABEL.exec(text)) {
    labels[found[1] as string] = found[2] as string;
    end = LABEL.lastIndex;
  }
  if (end !== text.length) throw new Error(`no labels: {${text}}`);
  return labels;
}
