// Walls that a sandbox process puts around itself before it reads anything of a tenant: limits of the process, and the filter of system calls.
import { readFileSync, writeFileSync } from "node:fs";
import { SANDBOX_DATA_BYTES_MORE } from "../../../core/config/sandbox-limits.ts";
import { firstLineOf } from "../../../core/text/error-text.ts";
import { type Koffi, loadKoffi } from "../../platform/native-functions.ts";
import { instructionCount, systemCallFilter } from "./system-calls.ts";

/** Constants of Linux, the same on x86-64 and arm64: setrlimit(2), prctl(2), seccomp(2). */
const RLIMIT_FSIZE = 1;
const RLIMIT_DATA = 2;
const RLIMIT_CORE = 4;
const RLIMIT_NPROC = 6;
const RLIMIT_NOFILE = 7;
const PR_SET_PDEATHSIG = 1;
const PR_SET_DUMPABLE = 4;
const PR_SET_NO_NEW_PRIVS = 38;
const SIGKILL = 9;
const SYS_SECCOMP_X64 = 317;
const SECCOMP_SET_MODE_FILTER = 1;
const SECCOMP_FILTER_FLAG_TSYNC = 1;
const OUT_OF_MEMORY_FIRST = "1000";

/** Walls of a process beside the interpreters: whether each stands, and why not. */
export interface OwnWalls {
  readonly limits: boolean;
  readonly kernel: boolean;
  readonly missing: string | null;
}

/** Ends this process with the thread that started it. Called first. */
export function endWithParent(): void {
  const koffi = linuxKoffi();
  if (typeof koffi !== "string") prctl(koffi)(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

/** Puts up what can be put up. What stands once cannot be taken down. */
export function putUpWalls(): OwnWalls {
  const koffi = linuxKoffi();
  if (typeof koffi === "string") return { limits: false, kernel: false, missing: koffi };
  limitProcess(koffi);
  const failure = filterCalls(koffi);
  return { limits: true, kernel: failure === undefined, missing: failure ?? null };
}

function linuxKoffi(): Koffi | string {
  if (process.platform !== "linux") return `${process.platform} has no filter of system calls`;
  try {
    return loadKoffi();
  } catch (error) {
    return firstLineOf(error);
  }
}

function prctl(koffi: Koffi) {
  return koffi.load(null).func("int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)");
}

/** No core, no file, no process, and of memory what it has now and what a program may take. Where memory runs short this process goes first. */
function limitProcess(koffi: Koffi): void {
  writeFileSync("/proc/self/oom_score_adj", OUT_OF_MEMORY_FIRST);
  const status = readFileSync("/proc/self/status", "utf8");
  const dataBytes = Number(/^VmData:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  const setLimit = koffi.load(null).func("int setrlimit(int resource, const uint64_t *limit)");
  const set = (resource: number, value: number) => {
    if (setLimit(resource, new BigUint64Array([BigInt(value), BigInt(value)])) !== 0)
      throw new Error(`setrlimit(${resource}) ended with errno ${koffi.errno()}`);
  };
  set(RLIMIT_DATA, dataBytes + SANDBOX_DATA_BYTES_MORE);
  set(RLIMIT_CORE, 0);
  set(RLIMIT_FSIZE, 0);
  set(RLIMIT_NPROC, 0);
  set(RLIMIT_NOFILE, 0);
}

/** Answers why the filter does not stand, undefined where it does. */
function filterCalls(koffi: Koffi): string | undefined {
  const program = systemCallFilter(process.arch);
  if (program === undefined) return `no list of system calls is known for ${process.arch}`;
  const control = prctl(koffi);
  control(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (control(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) !== 0) return `prctl ended with errno ${koffi.errno()}`;
  koffi.struct("sock_fprog", { len: "uint16_t", filter: "void *" });
  const call = koffi.load(null).func("long syscall(long number, long mode, long flags, sock_fprog *program)");
  const filter = { len: instructionCount(program), filter: program };
  const result = call(SYS_SECCOMP_X64, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, filter);
  return result === 0 ? undefined : `seccomp ended with errno ${koffi.errno()}`;
}
