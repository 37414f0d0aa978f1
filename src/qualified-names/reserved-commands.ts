import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";

/** The npm packages that contain Node, one for each system and processor. */
const nodePackages = ["linux", "darwin", "win", "aix", "sunos"].flatMap((system) =>
  ["x64", "x86", "arm64", "armv6l", "armv7l", "ppc64", "ppc64le", "s390x"].map(
    (processor) => `node-${system}-${processor}`,
  ),
);

/**
 * The commands that `npx trailblaze` and `trailblaze add` rely on, with the packages that may provide them. Package
 * managers link every package's commands into node_modules/.bin, which npx puts first on the PATH.
 */
const owners: ReadonlyMap<string, readonly string[]> = new Map([
  ["trailblaze", ["trailblaze"]],
  ["node", ["node", ...nodePackages]],
  ["sh", []],
  ["npm", ["npm"]],
  ["npx", ["npm", "npx"]],
  ["pnpm", ["pnpm", "@pnpm/exe", "corepack"]],
  ["yarn", ["yarn", "@yarnpkg/cli-dist", "corepack"]],
]);

/** The packages that may provide a reserved command. */
export const ownersOf = (command: string): readonly string[] => owners.get(command) ?? [];

/**
 * The reserved command that a command name is equivalent to on any system: the last segment of a path, without Windows'
 * extensions, ignoring case. `undefined` if it is not reserved.
 */
export function findReservedCommand(name: string): string | undefined {
  const last =
    name
      .normalize("NFKC")
      .toLowerCase()
      .split(/[\\/:]/)
      .at(-1) ?? "";
  const command = last
    .trim()
    .replace(/[. ]+$/, "")
    .replace(/\.(?:cmd|ps1|exe|bat|com)$/, "");
  return owners.has(command) ? command : undefined;
}

/** A reserved command that a package provides. */
export interface CommandClaim {
  command: string;
  /** Keys from the top of package.json. */
  path: Path;
}

/** The command names that a package.json declares in `bin`, with their paths. */
function* declaredNames({ name, bin }: Readonly<Record<string, unknown>>) {
  if (typeof bin === "string") {
    if (typeof name === "string") yield { name, path: ["bin"] };
  } else if (Array.isArray(bin)) {
    for (const [index, file] of bin.entries())
      if (typeof file === "string") yield { name: file, path: ["bin", index] };
  } else if (isRecord(bin)) {
    for (const key of Object.keys(bin)) yield { name: key, path: ["bin", key] };
  }
}

/** The reserved commands that a package provides in `bin` without being one of their owners. `owner` is its name. Pure. */
export function findReservedCommands(
  manifest: Readonly<Record<string, unknown>>,
  owner: string | undefined,
): CommandClaim[] {
  const claims = new Map<string, CommandClaim>();
  for (const { name, path } of declaredNames(manifest)) {
    const command = findReservedCommand(name);
    if (command === undefined || claims.has(command)) continue;
    if (!ownersOf(command).some((one) => one === owner)) claims.set(command, { command, path });
  }
  return [...claims.values()];
}
