import type { ConfigFormatName, JsonRecord } from "../editing/config-format.ts";

/**
 * The path of a file. `~/` is the home folder, `./` the project, `${NAME:-~/default}` a folder that an environment
 * variable may name. Of several paths, the first existing one is used, or else the first.
 */
export type PathTemplates = readonly string[];

export const systems = ["linux", "darwin", "win32"] as const;
export type System = (typeof systems)[number];

export type Scope = "user" | "project";

/** How a client writes an entry for a server that it starts. Keys are in this order. */
export interface EntryShape {
  /** Keys before the command, such as `{ type: "stdio" }`. */
  first?: JsonRecord;
  /** The command's key; with `commandIsList`, its value includes the arguments. Default: `command`. */
  command?: string;
  commandIsList?: true;
  /** Default: `env`. */
  environment?: string;
  /** A key that lists names of variables to pass on, instead of values. */
  passedNames?: string;
  /** A key under which the entry repeats its own name. */
  name?: string;
  /** Keys after all others, such as `{ tools: ["*"] }`. */
  last?: JsonRecord;
}

/** Each record has its source and its date, because facts become outdated. */
export interface ClientRecord {
  id: string;
  name: string;
  aliases: readonly string[];
  format: ConfigFormatName;
  user: Readonly<Partial<Record<System, PathTemplates>>>;
  /** Relative to the project's folder; absent if the client has no such file. */
  project?: PathTemplates;
  container: readonly string[];
  /** The keys of a newer form of the config, used if a file has them. */
  newerContainer?: readonly string[];
  /** Entries are in an array and have their key as `name`. */
  isList?: true;
  shape: EntryShape;
  /** How a value refers to an environment variable; `NAME` stands for its name. */
  reference?: string;
  /** Other forms of references that the client reads. `$(COMMAND)` stands for the output of a command. */
  alsoReads?: readonly string[];
  /** The keys that lead to an object with the container of each folder, for the servers of one project. */
  byFolder?: readonly string[];
  /** The keys that lead to the names of servers that are turned off: in the file, or in the object of a folder. */
  disabledNames?: readonly string[];
  /** A regular expression for keys, if the client restricts them. */
  keyPattern?: string;
  /** Files or folders that show that the client is installed. Default: the user's file and its folder. */
  signs?: readonly string[];
  /** The folder of its skills, below the project's folder and the home folder; absent if it reads none of the two. */
  skills?: ".agents/skills" | ".claude/skills";
  /** What the user has to do for an entry in the project's file. */
  approval?: string;
  source: string;
  /** Year and month in which the source was checked. */
  checked: string;
}
