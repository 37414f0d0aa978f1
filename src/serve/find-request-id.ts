export type RequestId = string | number;

/** What the scan stops at: a string, a bracket, a comma or a colon. */
const mark = /"(?:[^"\\]|\\[^])*"|[[\]{},:]/g;

function readScalar(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The id of a request that cannot be parsed as a whole, read from the top level of its JSON text. `undefined` for what
 * is no request: an error with the id of an answer would be taken for an answer to something else.
 */
export function findRequestId(json: Buffer): RequestId | undefined {
  const members = new Map<unknown, unknown>();
  const text = json.toString("utf8");
  if (!/^\s*\{/.test(text)) return undefined;
  let depth = 0;
  let key: unknown;
  // Where a value at the top level begins.
  let start = -1;
  let lastString = "";
  mark.lastIndex = 0;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    const [token] = found;
    if (token === "{" || token === "[") depth++;
    else if (depth === 1 && token === ":") {
      key = readScalar(lastString);
      start = mark.lastIndex;
    } else if (depth === 1 && (token === "," || token === "}")) {
      // Of two members of one name the last counts, as everywhere in JSON here. Values with an inside are of no use.
      if (key === "id" || key === "method") members.set(key, readScalar(text.slice(start, found.index)));
      key = undefined;
    } else if (depth === 1 && token.startsWith('"')) lastString = token;
    if (token === "}" || token === "]") depth--;
  }
  if (depth !== 0 || typeof members.get("method") !== "string") return undefined;
  const id = members.get("id");
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
