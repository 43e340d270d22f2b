/**
 * Filter of system calls that a sandbox process lays on itself and all its threads (seccomp(2)) once the interpreters have run: what is not listed is refused
 * with EPERM. Left are memory, clocks, waiting, its own handlers of signals, its end, and reading and writing what is open already. No file is opened, no
 * process started, joined, traced or signalled, no socket made, no thread begun.
 *
 * A filter is a program of 8-byte instructions (struct sock_filter: u16 code, u8 jump if true, u8 jump if false, u32 operand) over struct seccomp_data
 * (u32 number, u32 architecture, ...). Numbers of calls are those of x86-64 (arch/x86/entry/syscalls/syscall_64.tbl); those of its x32 twin have bit 30
 * set, and are listed nowhere.
 */

const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const RETURN = 0x06;
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const AUDIT_ARCH_X86_64 = 0xc000003e;
const ALLOW = 0x7fff0000;
const REFUSE_EPERM = 0x00050001;
const KILL_PROCESS = 0x80000000;
const INSTRUCTION_BYTES = 8;

/** Allowed calls of x86-64, by name. */
const ALLOWED: Readonly<Record<string, number>> = {
  read: 0,
  write: 1,
  close: 3,
  poll: 7,
  lseek: 8,
  mmap: 9,
  mprotect: 10,
  munmap: 11,
  brk: 12,
  rt_sigaction: 13,
  rt_sigprocmask: 14,
  rt_sigreturn: 15,
  sched_yield: 24,
  mremap: 25,
  madvise: 28,
  nanosleep: 35,
  getpid: 39,
  exit: 60,
  gettimeofday: 96,
  getrusage: 98,
  sigaltstack: 131,
  gettid: 186,
  futex: 202,
  sched_getaffinity: 204,
  restart_syscall: 219,
  clock_gettime: 228,
  clock_getres: 229,
  clock_nanosleep: 230,
  exit_group: 231,
  epoll_wait: 232,
  set_robust_list: 273,
  epoll_pwait: 281,
  getrandom: 318,
  membarrier: 324,
  // mprotect with a key: how V8 makes code writable on processors with protection keys. That it may not ends the process.
  pkey_mprotect: 329,
  rseq: 334,
};

/** The filter's program for this processor; undefined where no list is known of it. */
export function systemCallFilter(architecture: string): Buffer | undefined {
  if (architecture !== "x64") return undefined;
  const calls = Object.values(ALLOWED);
  const instructions: ReadonlyArray<readonly [number, number, number, number]> = [
    [LOAD_WORD, 0, 0, ARCHITECTURE_OFFSET],
    [JUMP_IF_EQUAL, 1, 0, AUDIT_ARCH_X86_64],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD_WORD, 0, 0, NUMBER_OFFSET],
    // From an instruction to the last but one: the refusal stands behind the comparisons, the permission behind it.
    ...calls.map((call, index): [number, number, number, number] => [JUMP_IF_EQUAL, calls.length - index, 0, call]),
    [RETURN, 0, 0, REFUSE_EPERM],
    [RETURN, 0, 0, ALLOW],
  ];
  const program = Buffer.alloc(instructions.length * INSTRUCTION_BYTES);
  instructions.forEach(([code, ifTrue, ifFalse, operand], index) => {
    const at = index * INSTRUCTION_BYTES;
    program.writeUInt16LE(code, at);
    program.writeUInt8(ifTrue, at + 2);
    program.writeUInt8(ifFalse, at + 3);
    program.writeUInt32LE(operand, at + 4);
  });
  return program;
}

/** Instructions of a filter. */
export function instructionCount(program: Buffer): number {
  return program.length / INSTRUCTION_BYTES;
}
