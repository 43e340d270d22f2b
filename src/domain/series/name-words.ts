/** Words of a metric name in lower case: at separators, and where lower case turns to upper. */
export function nameWords(metricName: string): string[] {
  return metricName
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .split(/[^\p{L}\d%]+/u)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}
