// Whether a new model may take the place of the one before: it must find calm vectors, which neither of the two has to have learned, no stranger than that one does.
import { FEATURE_ROWS } from "./service-features.ts";
import { type ServiceModel, SMOOTHED_VECTORS, type TimedRows } from "./service-model.ts";

/** Vectors that are asked about: 20 us each, twice. */
const ROWS_MAX = 1_450;
/** Fewer tell nothing. */
const ROWS_MIN = 290;
/** Vectors before the first of a run that can be measured. */
const ROWS_BEFORE = FEATURE_ROWS - 1;
/** A vector is strange to a model where one of its training in so many is. */
const STRANGE_LOG_P = Math.log(0.01);
/** Share of strange vectors that is no fault of a model: three times what its training had. */
const SHARE_ALLOWED = 0.03;

/** True where there are too few vectors to tell, too. */
export function isNoWorse(model: ServiceModel, before: ServiceModel, calm: TimedRows): boolean {
  if (calm.times.length < ROWS_MIN || model.width !== before.width) return true;
  const share = strangeShare(model, calm);
  return share <= SHARE_ALLOWED || share <= strangeShare(before, calm);
}

/** Share of the newest vectors that the model finds strange; each run's first ones, which have too few before them, are not asked about. */
function strangeShare(model: ServiceModel, { times, values, width, breaks }: TimedRows): number {
  let [asked, strange, components, isolation, since] = [0, 0, 0, 0, -1];
  for (let row = Math.max(0, times.length - ROWS_MAX); row < times.length; row++) {
    since = breaks?.[row] === 1 ? 0 : since + 1;
    if (since < ROWS_BEFORE) {
      [components, isolation] = [0, 0];
      continue;
    }
    const measured = model.measure(values, row * width, times[row] as number);
    const weight = 1 / Math.min(since - ROWS_BEFORE + 1, SMOOTHED_VECTORS);
    components += weight * (measured.shape + measured.step - components);
    isolation += weight * (measured.isolation - isolation);
    asked++;
    if (model.logP(measured, { components, isolation }) < STRANGE_LOG_P) strange++;
  }
  return asked === 0 ? 0 : strange / asked;
}
