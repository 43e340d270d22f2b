// What became of a mail, over a server that ends its connections at each point of a session.
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { type EmailSender, emailSender } from "../../../../src/adapters/notify/email-sender.ts";
import { ALERT_MESSAGE } from "../../../support/alert-message.ts";

const TO = { notifier: "email", tenant: "default", target: "ops@example.com" } as const;
const MESSAGE = { ...ALERT_MESSAGE, alertId: "0123456789abcdef0123456789abcdef" };

/** What the server says to each command; undefined closes the connection. */
type Replies = Partial<Record<"CONNECT" | "EHLO" | "MAIL" | "RCPT" | "DATA" | ".", string | undefined>>;
const ALL = { CONNECT: "220 hello", EHLO: "250 hello", MAIL: "250 ok", RCPT: "250 ok", DATA: "354 go on", ".": "250 taken" };

const servers: Server[] = [];
const senders: EmailSender[] = [];
afterEach(() => {
  for (const sender of senders.splice(0)) sender.close();
  for (const server of servers.splice(0)) server.close();
});

const mails: string[] = [];

async function senderOver(replies: Replies, pictures?: ReadonlyMap<string, Buffer>): Promise<EmailSender> {
  mails.length = 0;
  const server = createServer((socket) => serve(socket, { ...ALL, ...replies }));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return senderTo(port, pictures);
}

function senderTo(port: number, pictures: ReadonlyMap<string, Buffer> = new Map()): EmailSender {
  const sender = emailSender(`smtp://127.0.0.1:${port}`, "Vedette <vedette@example.com>", async () => pictures);
  senders.push(sender);
  return sender;
}

function serve(socket: Socket, replies: Replies): void {
  let isData = false;
  let text = "";
  const say = (at: keyof Replies) => {
    const reply = replies[at];
    isData = at === "DATA" && reply !== undefined;
    if (reply === undefined) socket.destroy();
    else socket.write(`${reply}\r\n`);
  };
  socket.on("error", () => undefined);
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
    for (let end = text.indexOf("\r\n"); end >= 0; end = text.indexOf("\r\n")) {
      const line = text.slice(0, end);
      text = text.slice(end + 2);
      if (isData && line !== ".") {
        mails[0] = `${mails[0] ?? ""}${line}\n`;
        continue;
      }
      say((isData ? "." : (line.split(" ", 1)[0] ?? "")) as keyof Replies);
    }
  });
  say("CONNECT");
}

it.each([
  ["CONNECT", false],
  ["EHLO", false],
  ["MAIL", false],
  ["RCPT", false],
  ["DATA", false],
  [".", true],
])("a server that closes at %s may have taken it: %s", async (at, mayHaveArrived) => {
  const sender = await senderOver({ [at]: undefined });
  expect(await sender.send(TO, [MESSAGE], null)).toMatchObject({ kind: "retry", mayHaveArrived });
});

it("a connection that was refused has taken nothing", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise<void>((resolve) => server.close(() => resolve()));
  expect(await senderTo(port).send(TO, [MESSAGE], null)).toMatchObject({ kind: "retry", mayHaveArrived: false });
});

it.each([
  [{ ".": "451 later" }, { kind: "retry", mayHaveArrived: false }],
  [{ RCPT: "550 nobody" }, { kind: "failed" }],
  [{ ".": "554 no" }, { kind: "failed" }],
  [{}, { kind: "delivered" }],
])("what a server says is so: %j", async (replies, outcome) => {
  const sender = await senderOver(replies);
  expect(await sender.send(TO, [MESSAGE], null)).toMatchObject(outcome);
});

it("a picture stands in the mail, which is the same text for who shows none", async () => {
  const sender = await senderOver({}, new Map([[MESSAGE.alertId, Buffer.from("the picture")]]));
  expect(await sender.send(TO, [MESSAGE], null)).toEqual({ kind: "delivered" });
  const mail = mails[0] as string;
  expect(mail).toMatch(/multipart\/alternative/);
  expect(mail).toMatch(/multipart\/related/);
  expect(mail).toContain("Content-Disposition: inline");
  expect(mail).toContain(Buffer.from("the picture").toString("base64"));
  const id = /^Content-ID: <(.+)>$/im.exec(mail)?.[1] as string;
  expect(mail.replaceAll("=\n", "").replaceAll("=3D", "=")).toContain(`src="cid:${id}"`);
});

it("a picture that cannot be had keeps no mail back", async () => {
  await senderOver({});
  const { port } = (servers[0] as Server).address() as { port: number };
  const sender = emailSender(`smtp://127.0.0.1:${port}`, "vedette@example.com", () => Promise.reject(new Error("no picture")));
  senders.push(sender);
  expect(await sender.send(TO, [MESSAGE], null)).toEqual({ kind: "delivered" });
  expect(mails[0]).toMatch(/^Content-Type: text\/plain/m);
});
