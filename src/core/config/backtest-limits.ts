// Bounds of backtests (POST /api/v1/backtest, and on the command line), each with its reason.

/** Interval of the Watchdog where nothing is set. */
export const CYCLE_MS = 60_000;

/** Samples of one backtest, those for its baselines included: at 10 us each it answers before clients give up. */
export const BACKTEST_SAMPLES_MAX = 300_000;
/** Values of a file that one on the command line takes: 50 s, and 16 bytes each. */
export const BACKTEST_FILE_SAMPLES_MAX = 5_000_000;
export const BACKTEST_SERIES_MAX = 1_000;
/** Cycles of one: 90 days of minutes, at half a microsecond and what its rules take. */
export const BACKTEST_CYCLES_MAX = 130_000;
/** Series that may run full, or SLOs, times cycles: 7 s at 70 us each where a series does not climb. */
export const BACKTEST_EVALUATIONS_MAX = 200_000;
/** Stored records that one looks through for deployments, and SLO records and calls that it reads: 0.1 s each. */
export const BACKTEST_RECORDS_MAX = 50_000;
/** Models that one trains, each about 0.1 s in the thread of trainings; then services go on with the models that they have. */
export const BACKTEST_TRAININGS_MAX = 100;
export const BACKTEST_SILENCES_MAX = 100;
/** Pages of either kind, and rows by service and day, that its answer shows. */
export const BACKTEST_EXAMPLES_MAX = 50;
export const BACKTEST_ROWS_MAX = 1_000;
/** Wall time of one: 300,000 samples take 10 s of a thread, more where others need it too. */
export const BACKTEST_MS_MAX = 60_000;
/** Wait of a backtest for its turn, bound: as long as the one that runs may take. */
export const BACKTEST_WAIT_MS_MAX = 60_000;
/** Timeout of a backtest's answer. */
export const BACKTEST_ANSWER_MS_MAX = BACKTEST_WAIT_MS_MAX + BACKTEST_MS_MAX + 15_000;
/** Backtests of all tenants that wait for the one that runs, or run: a request each, and nothing else. Of one tenant. */
export const BACKTESTS_WAITING_MAX = 128;
export const BACKTESTS_PER_TENANT_MAX = 4;
/** Known incidents that a question may bring: 100 B each. */
export const BACKTEST_INCIDENTS_MAX = 1_000;
