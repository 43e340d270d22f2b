// What a sandbox says of itself: its walls, and counts since its start.

/** Walls that stand around programs of tenants. `missing`: why the kernel's, or the process's, does not. */
export interface SandboxWalls {
  readonly interpreter: true;
  readonly process: boolean;
  readonly kernel: boolean;
  /** Namespaces of its own, by bubblewrap: beside the others where it is found. */
  readonly namespaces: boolean;
  readonly missing: string | null;
  /** Languages that programs may be written in here. */
  readonly languages: readonly string[];
}

export interface SandboxCounts {
  readonly runs: number;
  readonly failures: number;
  /** Runs that overran their limits or ended their process. */
  readonly kills: number;
  readonly starts: number;
  readonly processes: number;
  readonly waiting: number;
}

/** Report of a sandbox when it has changed. `walls` are null before its first process. */
export interface SandboxReport {
  readonly walls: SandboxWalls | null;
  readonly counts: SandboxCounts;
}
