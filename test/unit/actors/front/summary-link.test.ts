import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { SummaryLink } from "../../../../src/actors/front/summary-link.ts";
import { SUMMARY_ANSWER_BYTES_MAX, SUMMARY_CHARACTERS_MAX } from "../../../../src/core/config/analysis-limits.ts";

const opened: Server[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close().closeAllConnections();
});

interface Asked {
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly body: { readonly model?: string; readonly messages: ReadonlyArray<{ readonly content: string }> };
}

/** A server that answers as it is told, and what it was asked. */
async function model(answer: (response: ServerResponse) => void): Promise<{ baseUrl: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    let text = "";
    for await (const part of request) text += part;
    asked.push({ url: request.url, authorization: request.headers.authorization, body: JSON.parse(text) });
    answer(response);
  });
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`, asked };
}

/** What a link answers to one question, and what it logs for two. */
async function worded(baseUrl: string) {
  const answers: Array<string | null> = [];
  const logged: string[] = [];
  const link = new SummaryLink(
    { baseUrl, key: "key", model: "small" },
    { clock: { monotonicMs: () => 0 }, log: (_, text) => void logged.push(text), answer: ({ text }) => void answers.push(text) },
  );
  await link.word({ type: "summary-wanted", id: 1, facts: "orders, infrastructure" });
  await link.word({ type: "summary-wanted", id: 2, facts: "orders, infrastructure" });
  await link.close();
  return { answers, logged };
}

const said = (content: unknown) => JSON.stringify({ choices: [{ message: { role: "assistant", content } }] });

describe("words of a language model", () => {
  it("are asked for with the facts alone, and cut to what is shown", async () => {
    const { baseUrl, asked } = await model((response) => response.end(said(`The disk\nof orders is full. ${"x".repeat(5_000)}`)));
    const { answers, logged } = await worded(baseUrl);
    expect(answers[0]).toMatch(/^The disk of orders is full\. x+$/);
    expect(answers[0]).toHaveLength(SUMMARY_CHARACTERS_MAX);
    expect(logged).toEqual([]);
    expect(asked[0]).toMatchObject({ url: "/v1/chat/completions", authorization: "Bearer key", body: { model: "small" } });
    expect(asked[0]?.body.messages.map(({ content }) => content).at(-1)).toBe("orders, infrastructure");
  });

  it.each<[string, (response: ServerResponse) => void, RegExp]>([
    ["it refuses", (response) => response.writeHead(500).end("{}"), /it answered 500/],
    ["it redirects", (response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(), /it answered 302/],
    ["it says nothing", (response) => response.end(said("  ")), /no text/],
    ["it is no model", (response) => response.end("<html>"), /JSON/],
    ["it says too much", (response) => response.end(said("x".repeat(2 * SUMMARY_ANSWER_BYTES_MAX))), /./],
    ["it hangs up", (response) => response.destroy(), /./],
  ])("are none where %s, which is logged once", async (_, answer, reason) => {
    const { baseUrl } = await model(answer);
    const { answers, logged } = await worded(baseUrl);
    expect(answers).toEqual([null, null]);
    expect(logged).toEqual([expect.stringMatching(reason)]);
    expect(logged[0]).not.toContain("key");
  });

  it("are none where no model is configured, and nothing is logged", async () => {
    expect(await worded("")).toEqual({ answers: [null, null], logged: [] });
  });
});
