// The resource of an OTLP request, the same for metrics and traces.
import { fieldNumber, readField, WIRE_BYTES, wireType } from "../wire/protobuf-wire";

/** Whether bytes are a Resource {1: attribute}. */
export function isResource(p: usize, end: usize): bool {
  while (p < end) {
    p = readField(p, end);
    if (p == 0 || (fieldNumber == 1 && wireType != WIRE_BYTES)) return false;
  }
  return true;
}
