import { describe, expect, it } from "vitest";
import { documentOf, groupOfDocument } from "../../../../../src/domain/rules/file/group-document.ts";
import { readRuleFile } from "../../../../../src/domain/rules/file/rule-file.ts";

const FILE = `groups:
- name: shop
  interval: 90s
  query_offset: 30s
  limit: 5
  labels: {team: payments, tier: one}
  rules:
  - {record: a:b, expr: sum(x), labels: {tier: two}}
  - {alert: Down, expr: up == 0, for: 2m, keep_firing_for: 1h30m, labels: {severity: high}, annotations: {summary: "{{ $value }}"}}
- name: plain
  rules: []
`;

describe("a group's document", () => {
  it("is a file's group, whichever of the two is read", () => {
    const { groups } = readRuleFile(FILE);
    const documents = groups.map(documentOf);
    expect(documents[0]).toMatchObject({
      interval: "1m30s",
      labels: { team: "payments" },
      rules: [{ labels: { tier: "two" } }, { for: "2m", keep_firing_for: "1h30m" }],
    });
    const plain = (value: unknown) =>
      JSON.stringify(value, (_name, member) => (member?.toObject === undefined ? member : member.toObject()));
    expect(plain(documents.map(groupOfDocument))).toBe(plain(groups));
    expect(plain(readRuleFile(JSON.stringify({ groups: documents })).groups)).toBe(plain(groups));
  });
});
