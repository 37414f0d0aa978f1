/** Words that contain `secretPart` but do not stand for a secret. */
const plainWords = new Set(
  `author authors authored authoring authority authorities authentic authenticity coauthor coauthors cookiecutter donkey
  donkeys hockey hotkey hotkeys jockey keyboard keyboards keyframe keyframes keymap keymaps keynote keynotes keypad keypads
  keyspace keyspaces keystroke keystrokes keyword keywords maxtokens monkey monkeys secretariat secretary tokenization tokenize
  tokenizer tokenizers turkey whiskey`.split(/\s+/),
);
const secretPart = /token|key|secret|passwd|password|passphrase|auth|cookie/;
/** Words that make a number of the tokens of a model: `MAX_TOKENS`, `token-limit`. */
const countWord = /^(?:max|maximum|min|minimum|num|number|count|limit|budget|total|per)$/;
const countEnd = /^(?:count|limit|budget)$/;
const secretEnd = /^(?:pass|pat|pwd)$/;

/**
 * Whether the name of an option, a variable, a header or a key suggests that its value is a secret: by a word, or by a part of
 * a word such as `authtoken`, but not by a plain word such as `keyboard`, nor by a number of tokens such as `MAX_TOKENS`.
 */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
  const isCounted = (word: string) =>
    (word === "tokens" && words.some((one) => countWord.test(one))) ||
    (word === "token" && countEnd.test(words.at(-1) ?? ""));
  const isSecret = (word: string) => secretPart.test(word) && !plainWords.has(word) && !isCounted(word);
  return words.some(isSecret) || words.join("").includes("password") || secretEnd.test(words.at(-1) ?? "");
}

/** Whether a text has a reference to a variable in the form of the config. */
export const hasReference = (text: string): boolean => /\$\{[A-Za-z_]\w*(?::-[^{}]*)?\}/.test(text);

/** Letters and digits that are mixed as in keys, and UUIDs. */
const keyShape =
  /(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|-----BEGIN /i;
const words = "(?:[A-Za-z]+|\\d+)(?:[-_.:,/](?:[A-Za-z]+|\\d+))*";
const harmless = [
  /^(?:true|false)$/i,
  /^[+-]?\d+(?:\.\d+)?$/,
  new RegExp(`^(?=.{1,24}$)${words}$`),
  new RegExp(`^https?://${words}/?$`, "i"),
];
const path = /^(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/][\w .@+-]{0,40})+$/;

/** Whether the value of a variable or a header is plainly no secret: a switch, a number, a path, or a few plain words. */
export const isHarmless = (text: string): boolean =>
  harmless.some((one) => one.test(text)) || (path.test(text) && !keyShape.test(text));

/** Which of the arguments of a command, or whether a URL, look like they have a secret. References to variables do not. */
export function looksSecret(args: readonly string[]): boolean[] {
  const isAssigned = (text: string) =>
    [...text.matchAll(/([\w-]+)["']?\s*(?:=|:(?!\/\/))\s*(?=["']?([^\s"'&]+))/g)].some(
      ([, name = "", value = ""]) => isSecretName(name) && !/^\$|^\W*$/.test(value),
    );
  return args.map((arg, index) => {
    const isOwn =
      keyShape.test(arg) ||
      isAssigned(arg) ||
      /\b(?:Bearer|Basic) +[^\s$]/i.test(arg) ||
      /:\/\/[^\s/?#$]*:[^\s/$]+@/.test(arg);
    const parts = [args[index - 1] ?? "", ...arg.split(/\s+/)];
    const isNamed = parts.some((part, at) => {
      const option = parts[at - 1] ?? "";
      // `--no-auth` has no value.
      const isOption = /^-{1,2}[\w-]+$/.test(option) && !/^-*(?:no|disable|without)-/i.test(option);
      return isOption && isSecretName(option) && part !== "" && !/^(?:--|-\w$|["']?\$)/.test(part);
    });
    return isOwn || isNamed;
  });
}
