import type { Scope } from "../clients/client.ts";

/** A command that starts a server, or a server's URL. */
export type Launch =
  | { command: string; args: readonly string[] }
  | {
      /** The server's URL. */
      url: string;
      /** HTTP headers by name. */
      headers?: Readonly<Record<string, string>> | undefined;
    };

export interface LaunchRequest {
  scope: Scope;
  /** The reference for `start`; `null` for the project's session. */
  server: string | null;
  /** Absolute path of the project's folder. */
  project: string;
  /** Whether the server is served over HTTP by default. */
  isHttp: boolean;
  /** Absolute path of the running Node. */
  node: string;
  /** Absolute path of the command's script. */
  script: string;
}

/** Whether the script is in npx's cache, which the next clean-up removes. */
export const isInNpxCache = (script: string): boolean => /[\\/]_npx[\\/]/.test(script);

/**
 * Loads the command from the package `trailblaze` that the current folder resolves, like `import`. Does not use npx, which runs
 * node_modules/.bin/trailblaze, a file that any installed package can claim.
 */
const loadOwnCommand = ["-e", "require('trailblaze/cli')", "trailblaze"] as const;

/** Creates a command that is the same on every machine for a project's file, and independent of `PATH` for a user's. */
export function createLaunch(request: LaunchRequest): Exclude<Launch, { url: string }> {
  const { scope, server, project, isHttp, node, script } = request;
  const start = ["start", ...(server === null ? [] : [server])];
  const transport = isHttp ? ["--stdio"] : [];
  if (scope === "project") return { command: "node", args: [...loadOwnCommand, ...start, ...transport] };
  return { command: node, args: [script, ...start, "--cwd", project, ...transport] };
}

/** The command that earlier versions wrote to project files. */
const formerLaunch = ["npx", "--no-install", "trailblaze"];

const beginsWith = (words: readonly unknown[], start: readonly string[]) =>
  start.every((word, index) => words[index] === word);

/** The server that a command line of Trailblaze starts, `null` for the session; `undefined` for any other command line. */
export function findStartedServer(words: readonly unknown[]): string | null | undefined {
  const [_first, second] = words;
  const prefix = [["node", ...loadOwnCommand], formerLaunch].find((one) => beginsWith(words, one));
  // A user's entry is only recognized with the folder, because other programs have a `cli.js` too.
  const isUser =
    typeof second === "string" &&
    /(?:^|[\\/])(?:cli\.c?js|trailblaze)$/.test(second) &&
    words.includes("--cwd");
  const start = prefix?.length ?? (isUser ? 2 : -1);
  if (start < 0 || words[start] !== "start") return undefined;
  const server = words[start + 1];
  if (server === undefined || (typeof server === "string" && server.startsWith("-"))) return null;
  return typeof server === "string" ? server : undefined;
}

/** The folder in which an entry of Trailblaze starts its server, in any client's form. */
export function findStartFolder(entry: Readonly<Record<string, unknown>>): string | undefined {
  for (const words of Object.values(entry)) {
    const index = Array.isArray(words) ? words.indexOf("--cwd") : -1;
    const folder: unknown = index < 0 ? undefined : (words as unknown[])[index + 1];
    if (typeof folder === "string") return folder;
  }
  return undefined;
}
