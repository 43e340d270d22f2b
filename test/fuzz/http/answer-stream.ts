// Reads the answers of one connection off its bytes, strictly: a server's answers must be HTTP whatever was asked.

/** One final answer. */
export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** The answers in `bytes`; of the last, only the head may be there when `isClosed` is false. Throws where the bytes are no answers. */
export function readAnswers(bytes: Buffer, isClosed: boolean): Answer[] {
  const answers: Answer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const headEnd = bytes.indexOf("\r\n\r\n", at);
    if (headEnd < 0) {
      if (isClosed) throw new Error(`half a head at the end: ${shown(bytes.subarray(at))}`);
      return answers;
    }
    const [statusLine = "", ...lines] = bytes.toString("latin1", at, headEnd).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) [ -~]*$/.exec(statusLine)?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) throw new Error(`no status line: ${shown(bytes.subarray(at, headEnd))}`);
    for (const line of lines)
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+: ?[\t -~]*$/.test(line)) throw new Error(`no header line: ${JSON.stringify(line)}`);
    const bodyAt = headEnd + 4;
    const end = status < 200 || status === 204 ? bodyAt : bodyEnd(lines, bodyAt, bytes.length);
    if (end > bytes.length) {
      if (isClosed) throw new Error(`an answer of ${status} is cut off`);
      return answers;
    }
    if (status >= 200) answers.push({ status, body: bytes.subarray(bodyAt, end) });
    at = end;
  }
  return answers;
}

/** Without a length the body lasts until the connection closes. */
function bodyEnd(lines: readonly string[], bodyAt: number, end: number): number {
  const length = lines.find((line) => /^content-length:/i.test(line));
  return length === undefined ? end : bodyAt + Number(length.slice(length.indexOf(":") + 1));
}

function shown(bytes: Buffer): string {
  return JSON.stringify(bytes.toString("latin1", 0, 80));
}
