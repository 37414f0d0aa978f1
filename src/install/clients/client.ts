import type { ConfigFormatName } from "../editing/config-format.ts";
import type { JsonRecord } from "../editing/config-value.ts";

/**
 * Where a file lies. `~/` is the home, `./` the project, `${NAME:-~/default}` a folder that the environment may name.
 * Several: the first that is there, else the first.
 */
export type PathTemplates = readonly [string, ...string[]];

export type SystemPaths = Readonly<Partial<Record<"linux" | "darwin" | "win32", PathTemplates>>>;

export type Scope = "user" | "project";

/** How a client writes down a server that it starts, or reaches. Keys come in the order given. */
export interface EntryShape {
  /** Before the command, as `{ type: "stdio" }`. */
  first?: JsonRecord;
  /** The command's key; with `commandIsList` its value holds the arguments too. Default: `command`. */
  command?: string;
  commandIsList?: true;
  /** Default: `env`. */
  environment?: string;
  /** A key that lists names of variables to pass on, in place of values. */
  passedNames?: string;
  /** The entry repeats its own key under this one. */
  name?: string;
  /** After everything else, as `{ tools: ["*"] }`. */
  last?: JsonRecord;
  /** For a server that is reached at an address; absent where the client cannot, or its way is unknown. */
  address?: { first?: JsonRecord; key: string; last?: JsonRecord };
}

/** An MCP client, as far as its configuration goes. Facts age: each record says where it is from and when. */
export interface ClientRecord {
  id: string;
  name: string;
  aliases: readonly string[];
  format: ConfigFormatName;
  user: SystemPaths;
  /** Below the project's folder; absent where the client has no such file. */
  project?: PathTemplates;
  /** The keys that lead to the entries. */
  container: readonly string[];
  /** Keys of a newer form of the config, used where a file has them. */
  newerContainer?: readonly string[];
  /** Entries stand in a list and carry their key as `name`. */
  isList?: true;
  shape: EntryShape;
  /** How a value refers to an environment variable; `NAME` stands for its name. */
  reference?: string;
  /** What keys may be, where the client is choosy. */
  keyPattern?: string;
  /** Folders or files that tell that the client is here; default: the user file and the folder it lies in. */
  signs?: readonly string[];
  /** What to do so that the client takes a new entry. */
  afterwards: string;
  /** What is to be done besides for an entry in the project's file. */
  approval?: string;
  /** Where the facts are from. */
  source: string;
  /** Year and month of the look at it. */
  checked: string;
}

/** One path for every system. */
export const everywhere = (...paths: PathTemplates): SystemPaths => ({
  linux: paths,
  darwin: paths,
  win32: paths,
});

/** A path below the folder in which programs keep their settings, by the rules of each system. */
export const inSettings = (path: string, windowsPath = path): SystemPaths => ({
  linux: [`\${XDG_CONFIG_HOME:-~/.config}/${path}`],
  darwin: [`~/Library/Application Support/${path}`],
  win32: [`\${APPDATA:-~/AppData/Roaming}/${windowsPath}`],
});

/** A path below `~/.config`, also on macOS. */
export const inDotConfig = (...paths: PathTemplates): SystemPaths => ({
  linux: paths.map((path) => `\${XDG_CONFIG_HOME:-~/.config}/${path}`) as [string, ...string[]],
  darwin: paths.map((path) => `\${XDG_CONFIG_HOME:-~/.config}/${path}`) as [string, ...string[]],
  win32: paths.map((path) => `\${XDG_CONFIG_HOME:-~/.config}/${path}`) as [string, ...string[]],
});

export const restart = "Restart it, so that it reads its configuration again.";
export const newSession = "A session that is already open does not see it: start a new one.";
export const byItself = "It reads the file again by itself; reload its window if the server does not appear.";

const http: JsonRecord = { type: "http" };
/** `{ url }`. */
export const plainAddress = { key: "url" } as const;
/** `{ type: "http", url }`. */
export const typedAddress = { first: http, key: "url" } as const;
