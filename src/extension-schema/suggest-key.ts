import leven from "leven";

/** Words that people use instead of a key, other than misspellings, in the form of `plain`. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  name: ["id"],
  handler: ["execute", "run", "fn", "func", "function", "callback", "call", "invoke", "implementation"],
  inputSchema: ["schema", "input", "inputs", "args", "arguments", "argumentsschema"],
  uri: ["url", "href", "address"],
  uriTemplate: ["template"],
  text: ["content", "contents", "body"],
  file: ["path", "filename"],
  content: ["messages", "message", "text", "prompt", "body", "template"],
  entries: ["tools", "items"],
  tools: ["items"],
  command: ["cmd", "exec", "executable"],
  script: ["main", "module", "entry", "entrypoint", "file", "path"],
};

/** Ignores case, underscores and hyphens. */
const plain = (word: string) => word.toLowerCase().replace(/[_-]/g, "");
const singular = (word: string) => word.replace(/s$/, "");
const sorted = (word: string) => [...word].sort().join("");

/** Limit on the length of keys that get suggestions: comparing longer keys is slow. */
const maximumLength = 40;

/** The distance of a word from a key, from 0; `undefined` if it is too large, which depends on the length. */
function editDistance(written: string, key: string): number | undefined {
  const [word, wanted] = [plain(written), plain(key)];
  if (word === wanted) return 0;
  if (singular(word) === singular(wanted)) return 1;
  const shorter = Math.min(word.length, wanted.length);
  const distance = leven(word, wanted);
  if (distance === 1 && wanted.length >= 4) return 2;
  const isAlike = word[0] === wanted[0] || sorted(word) === sorted(wanted);
  if (shorter >= 5 && isAlike && distance <= (shorter < 9 ? 2 : 3)) return 1 + distance;
  const beginning = singular(word);
  return beginning.length >= 4 && wanted.startsWith(beginning) ? 5 : undefined;
}

/** The key that is most similar to a word; `undefined` if none is similar enough. */
export function suggestKey(written: string, keys: readonly string[]): string | undefined {
  if (written.length > maximumLength) return undefined;
  const similar = keys.flatMap((key) => {
    const distance = editDistance(written, key);
    return distance === undefined ? [] : [{ key, distance }];
  });
  return similar.sort((a, b) => a.distance - b.distance)[0]?.key;
}

/** The first word that stands for a missing key, as a misspelling or as an alias. */
export function findMisnamedKey(
  missing: readonly string[],
  words: readonly string[],
): { key: string; written: string } | undefined {
  for (const written of words) {
    const key = suggestKey(written, missing);
    if (key !== undefined) return { key, written };
  }
  for (const key of missing) {
    const written = words.find((word) => aliases[key]?.includes(plain(word)));
    if (written !== undefined) return { key, written };
  }
  return undefined;
}
