import { clients } from "./clients/index.ts";
import type { ConfigDocument } from "./editing/config-document.ts";
import type { ConfigLeaf } from "./editing/config-format.ts";
import { isSecretName, SecretHider } from "./secrets.ts";

const mask = "***";
const shapes = clients.map(({ shape }) => shape);
/** Keys of objects in which every value is hidden. */
const hiddenKeys = new Set<unknown>([
  ...["env", "envs", "environment", "headers"],
  ...shapes.flatMap(({ environment, address }) => [environment, address?.headers]),
]);
const commandKeys = new Set<unknown>(["args", "command", ...shapes.map(({ command }) => command)]);

/** Masks the value of a variable or a header, except for its references to variables. */
function maskValue(name: string, text: string): string {
  const reference = /(\$?\{(?:env:|input:)?[\w-]+(?::-[^{}]*)?\}|^\$[A-Za-z_]\w*$)/;
  return text
    .split(reference)
    .map((part, index) => {
      if (index % 2 === 0) return /^(?:|(?:Bearer|Basic) )$/i.test(part) ? part : mask;
      const hasDefault =
        part.includes(":-") && (isSecretName(name) || isSecretName(part.split(":-")[0] ?? ""));
      return hasDefault ? part.replace(/:-.*\}/, `:-${mask}}`) : part;
    })
    .join("");
}

const hider = new SecretHider({ label: "", hide: () => mask, convert: (text) => text });
const keyOf = ({ path }: ConfigLeaf) => String(path.findLast((key) => typeof key === "string") ?? "");
/** The path of the array that contains a value, as JSON; `undefined` for other values. */
const arrayOf = ({ path }: ConfigLeaf) =>
  typeof path.at(-1) === "number" ? JSON.stringify(path.slice(0, -1)) : undefined;

function showLeaf(leaf: ConfigLeaf): string {
  const { path, value } = leaf;
  if (path.slice(0, -1).some((key) => hiddenKeys.has(key))) return maskValue(String(path.at(-1)), value);
  const key = keyOf(leaf);
  return commandKeys.has(key) ? hider.commandLine(value) : hider.value(key, value);
}

/** The text to show for each value of a config. */
function showLeaves(leaves: readonly ConfigLeaf[]): string[] {
  const commands = new Map<string, ConfigLeaf[]>();
  for (const leaf of leaves) {
    const array = arrayOf(leaf);
    if (array !== undefined && commandKeys.has(leaf.path.at(-2)))
      commands.set(array, [...(commands.get(array) ?? []), leaf]);
  }
  const shown = new Map<ConfigLeaf, string>();
  for (const words of commands.values()) {
    const args = hider.args(words.map(({ value }) => value));
    for (const [index, leaf] of words.entries()) shown.set(leaf, args[index] ?? mask);
  }
  return leaves.map((leaf) => shown.get(leaf) ?? showLeaf(leaf));
}

/**
 * The text of a config with secrets masked between two offsets: the values of variables and headers, and other values that
 * look secret. Marks those that differ from an earlier config.
 */
export function maskSecrets(
  config: ConfigDocument,
  range: readonly [number, number],
  former?: ConfigDocument,
): string {
  const formerValues = new Map<string, string>();
  former?.textWith([0, former.text.length], (leaves) => {
    for (const { path, value } of leaves) formerValues.set(JSON.stringify(path), value);
    return [];
  });
  return config.textWith(range, (leaves) => {
    const shown = showLeaves(leaves);
    return leaves.map(({ path, value }, index) => {
      if (shown[index] === value) return undefined;
      const before = formerValues.get(JSON.stringify(path));
      return before === undefined || before === value ? shown[index] : `${shown[index]} (changed)`;
    });
  });
}
