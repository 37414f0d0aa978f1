import type { Scope } from "../clients/client.ts";

/** What starts a server, or where it is reached. */
export type Launch =
  | { command: string; args: readonly string[] }
  | {
      /** An address. */
      url: string;
    };

export interface LaunchRequest {
  scope: Scope;
  /** As `start` takes it. */
  server: string;
  /** Absolute path of the project's folder. */
  project: string;
  /** The server serves over HTTP by default. */
  isHttp: boolean;
  /** Absolute path of the running Node. */
  node: string;
  /** Absolute path of the command's script. */
  script: string;
}

/** A copy that npx made for one run; it is gone after the next clean-up of npm's cache. */
export const isInNpxCache = (script: string): boolean => /[\\/]_npx[\\/]/.test(script);

/**
 * Loads the command from the package `trailblaze` that the folder at hand resolves, as Node does for `import`. Not by
 * npx: that runs whatever node_modules/.bin/trailblaze leads to, which any installed package can claim.
 */
const loadOwnCommand = ["-e", "require('trailblaze/cli')", "trailblaze"] as const;

/** What the project's file says is the same on every machine; what the user's says depends on no search path. */
export function createLaunch(request: LaunchRequest): Exclude<Launch, { url: string }> {
  const { scope, server, project, isHttp, node, script } = request;
  const start = ["start", server];
  const transport = isHttp ? ["--stdio"] : [];
  if (scope === "project") return { command: "node", args: [...loadOwnCommand, ...start, ...transport] };
  return { command: node, args: [script, ...start, "--cwd", project, ...transport] };
}

/** How project files started the command before entries were kept from going through npx. */
const formerLaunch = ["npx", "--no-install", "trailblaze"];

const beginsWith = (words: readonly unknown[], start: readonly string[]) =>
  start.every((word, index) => words[index] === word);

/** The server that a command line of ours starts; `undefined` for any other command line. */
export function findStartedServer(words: readonly unknown[]): string | undefined {
  const [, second] = words;
  const prefix = [["node", ...loadOwnCommand], formerLaunch].find((one) => beginsWith(words, one));
  const isUser = typeof second === "string" && /(?:^|[\\/])(?:cli\.c?js|trailblaze)$/.test(second);
  const start = prefix?.length ?? (isUser ? 2 : -1);
  const server = words[start + 1];
  return start > 0 && words[start] === "start" && typeof server === "string" ? server : undefined;
}

/** The folder in which an entry of ours starts its server, in whichever list its client has the words. */
export function findStartFolder(entry: Readonly<Record<string, unknown>>): string | undefined {
  for (const words of Object.values(entry)) {
    const index = Array.isArray(words) ? words.indexOf("--cwd") : -1;
    const folder: unknown = index < 0 ? undefined : (words as unknown[])[index + 1];
    if (typeof folder === "string") return folder;
  }
  return undefined;
}
