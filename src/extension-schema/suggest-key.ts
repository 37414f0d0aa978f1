import leven from "leven";

/** What people write instead of a key, beyond misspellings; without case and underscores. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  name: ["id"],
  handler: ["execute", "run", "fn", "func", "function", "callback", "call", "invoke", "implementation"],
  inputSchema: ["schema", "input", "inputs", "args", "arguments", "argumentsschema"],
  content: ["messages", "message", "text", "prompt", "body", "template"],
  entries: ["tools", "items"],
  tools: ["items"],
  command: ["cmd", "exec", "executable"],
  script: ["main", "module", "entry", "entrypoint", "file", "path"],
};

/** Without what people vary: case, underscores and hyphens. */
const plain = (word: string) => word.toLowerCase().replace(/[_-]/g, "");
const singular = (word: string) => word.replace(/s$/, "");
const sorted = (word: string) => [...word].sort().join("");

/** Longer keys get no suggestion: they take long to compare. */
const maximumLength = 40;

/** How far a word is from a key, from 0; `undefined` where it is no misspelling. Short words must be nearer. */
function editDistance(written: string, key: string): number | undefined {
  const [word, wanted] = [plain(written), plain(key)];
  if (word === wanted) return 0;
  if (singular(word) === singular(wanted)) return 1;
  const shorter = Math.min(word.length, wanted.length);
  const distance = leven(word, wanted);
  if (distance === 1 && wanted.length >= 4) return 2;
  if (shorter < 4) return undefined;
  const isAlike = word[0] === wanted[0] || sorted(word) === sorted(wanted);
  if (shorter >= 5 && isAlike && distance <= (shorter < 9 ? 2 : 3)) return 1 + distance;
  const beginning = singular(word);
  return beginning.length >= 4 && wanted.startsWith(beginning) ? 5 : undefined;
}

/** The key that a word is probably meant for; `undefined` where it is like none of them. */
export function suggestKey(written: string, keys: readonly string[]): string | undefined {
  if (written.length > maximumLength) return undefined;
  const slips = keys.flatMap((key) => {
    const slip = editDistance(written, key);
    return slip === undefined ? [] : [{ key, slip }];
  });
  return slips.sort((a, b) => a.slip - b.slip)[0]?.key;
}

/** The first of some words that stands for one of some missing keys: as a misspelling of it, or as an alias. */
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
