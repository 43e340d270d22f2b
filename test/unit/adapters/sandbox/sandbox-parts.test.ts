import { describe, expect, test } from "vitest";
import { systemCallFilter } from "../../../../src/adapters/sandbox/child/system-calls.ts";
import {
  ANSWER_HEAD_BYTES,
  answerFrame,
  answerRestBytes,
  NONCE_BYTES,
  readAnswer,
  readRequest,
  requestFrame,
} from "../../../../src/adapters/sandbox/frames.ts";
import { Overruns, payloadProblem, programKey } from "../../../../src/adapters/sandbox/sandbox.ts";

const NONCE = Buffer.from("0123456789abcdef");

test("a request comes out as it went in", () => {
  const request = { language: "python", program: "def transform(é):\n", event: '{"x":"ü"}' } as const;
  expect(readRequest(requestFrame(NONCE, request).subarray(4))).toEqual({ ...request, nonce: NONCE });
});

test("an answer comes out as it went in, and only for its nonce", () => {
  const answer = { kind: "failed", text: "no: é", line: 3 } as const;
  const frame = answerFrame(NONCE, answer);
  expect(answerRestBytes(frame, NONCE)).toBe(frame.length - ANSWER_HEAD_BYTES);
  expect(readAnswer(frame.subarray(ANSWER_HEAD_BYTES))).toEqual(answer);
  expect(answerRestBytes(frame, Buffer.alloc(NONCE_BYTES))).toBeUndefined();
  frame.writeUInt32LE(0x7fff_ffff, NONCE_BYTES);
  expect(answerRestBytes(frame, NONCE)).toBeUndefined();
});

test("a payload beyond 256 KiB is a failure that says so", () => {
  const frame = answerFrame(NONCE, { kind: "payload", text: "x".repeat(262_145), line: null });
  expect(readAnswer(frame.subarray(ANSWER_HEAD_BYTES))).toMatchObject({
    kind: "failed",
    text: "it answers 262145 bytes, more than 262144",
  });
});

describe("payloads of a process that may be broken", () => {
  test.each([
    ['{"a":[1,2,"]]]"]}', undefined],
    [`${"[".repeat(200)}${"]".repeat(200)}`, undefined],
    [`${"[".repeat(201)}${"]".repeat(201)}`, /200 deep/],
    ['{"a":NaN}', /no JSON/],
    ['"\\"[[["', undefined],
    ["", /no JSON/],
  ])("%.20s", (text, problem) => {
    if (problem === undefined) expect(payloadProblem(text)).toBeUndefined();
    else expect(payloadProblem(text)).toMatch(problem);
  });
});

test("three overruns in ten minutes suspend a program, and only that of that tenant", () => {
  const overruns = new Overruns();
  const key = programKey("a", { language: "jq", program: "." });
  for (const nowMs of [0, 300_000]) overruns.add(key, nowMs);
  expect(overruns.suspendedUntilMs(key, 300_000)).toBeUndefined();
  overruns.add(key, 400_000);
  expect(overruns.suspendedUntilMs(key, 400_000)).toBe(600_000);
  expect(overruns.suspendedUntilMs(programKey("b", { language: "jq", program: "." }), 400_000)).toBeUndefined();
  expect(overruns.suspendedUntilMs(key, 600_000)).toBeUndefined();
});

/** What a filter answers for a call, by the rules of its instructions. */
function verdictOf(program: Buffer, call: number, architecture: number): number {
  let word = 0;
  for (let at = 0; ; at++) {
    const [code, ifTrue, ifFalse, operand] = [
      program.readUInt16LE(at * 8),
      program[at * 8 + 2] ?? 0,
      program[at * 8 + 3] ?? 0,
      program.readUInt32LE(at * 8 + 4),
    ];
    if (code === 0x06) return operand;
    if (code === 0x20) word = operand === 0 ? call : architecture;
    else at += word === operand ? ifTrue : ifFalse;
  }
}

test("the filter allows reading and memory, refuses opening, processes and sockets, and ends what calls by another architecture", () => {
  const program = systemCallFilter("x64") ?? Buffer.alloc(0);
  const [x64, arm64] = [0xc000003e, 0xc00000b7];
  const names = { read: 0, write: 1, mmap: 9, pkeyMprotect: 329, rseq: 334 };
  for (const call of Object.values(names)) expect(verdictOf(program, call, x64)).toBe(0x7fff0000);
  const refused = {
    open: 2,
    socket: 41,
    connect: 42,
    clone: 56,
    fork: 57,
    vfork: 58,
    execve: 59,
    kill: 62,
    ptrace: 101,
    prctl: 157,
    tgkill: 234,
    openat: 257,
    prlimit64: 302,
    process_vm_writev: 311,
    execveat: 322,
    io_uring_setup: 425,
    pidfd_open: 434,
    clone3: 435,
    openat2: 437,
    x32read: 0x4000_0000,
  };
  for (const [name, call] of Object.entries(refused)) expect([name, verdictOf(program, call, x64)]).toEqual([name, 0x00050001]);
  expect(verdictOf(program, 0, arm64)).toBe(0x80000000);
  expect(systemCallFilter("arm64")).toBeUndefined();
});
