// Clients that go away: a conversation recorded once is sent again up to any byte, and its connection ends there, in one of the ways in which connections end.
import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** How a client ends: in order, by a reset, or by closing its sending side only and leaving once the server has said something. */
export type ConnectionEnd = "close" | "reset" | "half";
export const CONNECTION_ENDS: readonly ConnectionEnd[] = ["close", "reset", "half"];

/** When it ends: with the bytes, some turns later, or with the first bytes that the server sends from then on. */
export type CutMoment = "at once" | "a turn later" | "some turns later" | "with the answer";
export const CUT_MOMENTS: readonly CutMoment[] = ["at once", "a turn later", "some turns later", "with the answer"];

/** Of "with the answer", where none comes. */
const ANSWER_MS_MAX = 30;
const SOME_TURNS = 12;

/** A client's side of one connection, cut off behind `bytes`. Resolves once it is gone. */
export async function cutConnection(port: number, bytes: Uint8Array, end: ConnectionEnd, moment: CutMoment): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await once(socket, "connect");
  socket.resume();
  if (bytes.length > 0) socket.write(bytes);
  await passMoment(socket, moment);
  if (end === "reset") socket.resetAndDestroy();
  else if (end === "half") {
    socket.end();
    await passMoment(socket, "with the answer");
    socket.destroy();
  } else socket.destroy();
  await closed;
}

async function passMoment(socket: Socket, moment: CutMoment): Promise<void> {
  if (moment === "at once") return;
  if (moment === "with the answer") {
    await Promise.race([once(socket, "data").catch(() => {}), new Promise((resolve) => setTimeout(resolve, ANSWER_MS_MAX))]);
    return;
  }
  for (let turns = moment === "a turn later" ? 1 : SOME_TURNS; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
}

/** The path of a method of gRPC, and the bytes of a call of it with its message. */
export interface GrpcCallBytes {
  readonly path: string;
  readonly message: Uint8Array;
}

/** The prefix of a message of gRPC, and the message. */
function grpcFrame(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}

/** All that a client of gRPC sends in one good call, as it is on the wire. */
export async function recordGrpcCall(port: number, { path, message }: GrpcCallBytes): Promise<Buffer> {
  const sent: Buffer[] = [];
  const proxy = createServer((inner) => {
    const outer = connect({ port, host: "127.0.0.1" });
    inner.on("data", (chunk: Buffer) => sent.push(chunk));
    inner.on("error", () => {});
    outer.on("error", () => {});
    inner.pipe(outer).pipe(inner);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  await callGrpc(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, path, message);
  proxy.close();
  return Buffer.concat(sent);
}

/** One good call; resolves with its grpc-status. */
export async function callGrpc(origin: string, path: string, message: Uint8Array, options: object = {}): Promise<string> {
  const session = connectHttp2(origin, options);
  session.on("error", () => {});
  const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" });
  const status = new Promise<string>((resolve, reject) => {
    stream.on("error", reject);
    stream.on("response", (headers) => headers["grpc-status"] !== undefined && resolve(String(headers["grpc-status"])));
    stream.on("trailers", (headers) => resolve(String(headers["grpc-status"])));
    stream.on("close", () => reject(new Error("the call ended without a status")));
  });
  stream.resume();
  stream.end(grpcFrame(message));
  try {
    return await status;
  } finally {
    session.destroy();
  }
}

/** Moments of a call at which its caller leaves, seen from the caller; the connection goes with it, or is kept and the call alone is reset. */
export const CALL_MOMENTS = [
  "before the message",
  "in the prefix",
  "in the message",
  "behind the message",
  "at the head",
  "at the data",
] as const;
export type CallMoment = (typeof CALL_MOMENTS)[number];

/** Begins a call over a connection of its own and leaves at the moment. Resolves once it is gone. */
export async function leaveCall(
  origin: string,
  { path, message }: GrpcCallBytes,
  { moment, resets, options = {} }: { readonly moment: CallMoment; readonly resets: boolean; readonly options?: object },
): Promise<void> {
  const session = connectHttp2(origin, options);
  session.on("error", () => {});
  const gone = new Promise<void>((resolve) => session.once("close", () => resolve()));
  const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" });
  stream.on("error", () => {});
  const leave = () => {
    if (!resets) return session.destroy();
    stream.close(constants.NGHTTP2_CANCEL);
    setImmediate(() => session.destroy());
  };
  const frame = grpcFrame(message);
  stream.once("close", leave);
  if (moment === "at the head") stream.once("response", leave);
  if (moment === "at the data") stream.once("data", leave);
  stream.resume();
  await Promise.race([once(session, "connect").catch(() => {}), gone]);
  if (moment === "in the prefix") stream.write(frame.subarray(0, 3), leave);
  else if (moment === "in the message") stream.write(frame.subarray(0, frame.length - 1), leave);
  else if (moment === "before the message") leave();
  else {
    stream.end(frame);
    if (moment === "behind the message") setImmediate(leave);
  }
  await gone;
}
