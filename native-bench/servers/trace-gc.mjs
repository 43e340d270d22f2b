// Loaded ahead of the server by the row on heap allocation: every isolate prints a line for each of its garbage collections.
import { setFlagsFromString } from "node:v8";

setFlagsFromString("--trace-gc");
