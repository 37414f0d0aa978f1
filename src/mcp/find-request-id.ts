export type RequestId = string | number;

const [quotation, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const isOpening = (byte: number | undefined) => byte === 0x7b || byte === 0x5b;
const isClosing = (byte: number | undefined) => byte === 0x7d || byte === 0x5d;

/** In bytes. Longer ids and method names are ignored. */
const longestScalar = 1000;

/** The index of the quote that closes a string, or the end of the text. */
function findClosing(json: Buffer, opening: number): number {
  for (let at = opening + 1; at < json.length; at++) {
    if (json[at] === backslash) at++;
    else if (json[at] === quotation) return at;
  }
  return json.length;
}

function readScalar(json: Buffer, start: number, end: number): unknown {
  if (end - start > longestScalar) return undefined;
  try {
    return JSON.parse(json.toString("utf8", start, end));
  } catch {
    return undefined;
  }
}

/**
 * The id of a request that must not be parsed as a whole, read from the top level of its JSON text. `undefined` for
 * other messages: an error with an answer's id could be mistaken for an answer to another request.
 */
export function findRequestId(json: Buffer): RequestId | undefined {
  const members = new Map<unknown, unknown>();
  let depth = 0;
  let start = 0;
  let key: unknown;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quotation) at = findClosing(json, at);
    else if (isOpening(byte)) {
      if (++depth === 1) start = at + 1;
    } else if (depth === 1 && byte === colon) {
      key = readScalar(json, start, at);
      start = at + 1;
    } else if (depth === 1 && (byte === comma || isClosing(byte))) {
      // The last of several members with one name counts, as in `JSON.parse`.
      if (key === "id" || key === "method") members.set(key, readScalar(json, start, at));
      key = undefined;
      start = at + 1;
    }
    if (isClosing(byte)) depth--;
  }
  if (depth !== 0 || typeof members.get("method") !== "string") return undefined;
  const id = members.get("id");
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
