import type { InspectedItem } from "../../inspection/types.ts";
import { isSecretName } from "../../install/secrets.ts";
import type { DescribedPack } from "../../pages/describe-packs.ts";
import { failure, quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import { readBins } from "../../qualified-names/reserved-commands.ts";

/** A variable that the user of an export gives. */
interface UserVariable {
  name: string;
  /** Whether its name suggests so. */
  isSecret: boolean;
}

/** A server of a pack, and what every format says of it. */
export interface ExportedServer {
  /** The npm name. */
  pack: string;
  /** `@acme/jira` has the publisher `acme`. */
  publisher: string | undefined;
  /** The npm name without the scope. */
  shortName: string;
  version: string;
  description: string | undefined;
  /** package.json. */
  manifest: Readonly<Record<string, unknown>>;
  /** Name of the item. */
  name: string;
  qualifiedName: string;
  /** The key in configs of clients. */
  key: string;
  /** The command of package.json that starts it; `undefined` without one. */
  bin: { name: string; isDefault: boolean } | undefined;
  variables: UserVariable[];
  /** The hosts that the pack says it connects to. */
  hosts: readonly string[];
}

const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;

/** The path of a server's program in the package, relative and with `/`. */
export const programOf = (server: string): string => `bin/${server}.mjs`;

/** A path of package.json without a leading `./`. */
export const withoutDot = (path: string): string => path.replace(/^\.\//, "");

/** Programs that start a server as its definition says: the one that Trailblaze writes, and its own script. */
function programsOf({ declaration, definition, shape }: InspectedItem): string[] {
  const { script, args, env, cwd } = definition ?? {};
  const isPlain = [args, env, cwd].every((value) => value === undefined);
  const own = shape === "subprocessServer" && isPlain ? textIn(script) : undefined;
  return [programOf(declaration.name), ...(own === undefined ? [] : [withoutDot(own)])];
}

function findBin(item: InspectedItem, bins: ReadonlyMap<string, string>, shortName: string) {
  const programs = programsOf(item);
  const fitting = [...bins].filter(([, path]) => programs.includes(withoutDot(path))).map(([name]) => name);
  const name = fitting.find((one) => one === shortName) ?? fitting[0];
  if (name === undefined) return undefined;
  // npx runs the only command, or the one with the package's name.
  return { name, isDefault: bins.size === 1 || name === shortName };
}

/**
 * The server of a pack by its name or qualified name; without a name, its only one. Throws `TrailblazeError`:
 * `ServerNotFound`, and `AmbiguousName` if the pack has several.
 */
function findServer({ items, pack: { name: pack } }: DescribedPack, name: string | undefined): InspectedItem {
  const servers = items.filter(({ declaration }) => declaration.kind === "server");
  const names = servers.map(({ declaration }) => declaration.name);
  const [only] = servers;
  if (name === undefined) {
    if (only !== undefined && servers.length === 1) return only;
    if (only === undefined)
      throw failure("ServerNotFound", {
        name: pack,
        otherKind: undefined,
        nearest: [],
        reason: "The pack has no servers.",
      });
    throw failure("AmbiguousName", { name: pack, kinds: ["server"], servers: names });
  }
  const wanted = name.replace(/^@/, "");
  const server = servers.find((one) => one.declaration.name === name || one.qualifiedName === wanted);
  if (server !== undefined) return server;
  throw failure("ServerNotFound", { name, otherKind: undefined, nearest: findNearestNames(name, names) });
}

/** What formats say of a server of the pack. Throws as `findServer` does, and `InvalidArguments` without a version. */
export function describeServer(pack: DescribedPack, name: string | undefined): ExportedServer {
  const item = findServer(pack, name);
  const { value: manifest } = pack.manifest;
  const { name: packName, version, needs } = pack.pack;
  if (version === null) {
    const reason = `${quote(packName)} has no version, so nothing could start it`;
    throw failure("InvalidArguments", { reason, hint: 'Add "version" to package.json.' });
  }
  const [, publisher, shortName = packName] = /^(?:@([^/]+)\/)?(.+)$/.exec(packName) ?? [];
  const definition = item.definition ?? {};
  const passed = Array.isArray(definition.envPassthrough) ? definition.envPassthrough : [];
  return {
    pack: packName,
    publisher,
    shortName,
    version,
    description: textIn(manifest.description) ?? textIn(item.declaration.description),
    manifest,
    name: item.declaration.name,
    qualifiedName: item.qualifiedName,
    key: textIn(definition.mcpServerName) ?? item.declaration.name,
    bin: findBin(item, readBins(packName, manifest), shortName),
    variables: passed
      .filter((one) => typeof one === "string")
      .map((variable) => ({ name: variable, isSecret: isSecretName(variable) })),
    hosts: needs?.network ?? [],
  };
}

/** The name of the command that starts a server. Throws `ExportNeedsBin`. */
export function requireBin({ bin, qualifiedName, name }: ExportedServer): string {
  if (bin === undefined)
    throw failure("ExportNeedsBin", { name: qualifiedName, server: name, isDefault: true });
  return bin.name;
}

/** Arguments of npx that start the exact version. `prefix`: the folder that it installs into. */
export const npxArguments = (server: ExportedServer, version: string, prefix?: string): string[] => [
  "-y",
  ...(prefix === undefined ? [] : ["--prefix", prefix]),
  `--package=${server.pack}@${version}`,
  requireBin(server),
];
