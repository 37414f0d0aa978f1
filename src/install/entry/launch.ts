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
  /** The server is one that serves over HTTP unless it is told otherwise. */
  isHttp: boolean;
  /** Absolute path of the running Node. */
  node: string;
  /** Absolute path of the command's script. */
  script: string;
}

/** A copy that npx made for one run; it is gone after the next clean-up of npm's cache. */
export const isInNpxCache = (script: string): boolean => /[\\/]_npx[\\/]/.test(script);

/** What the project's file says is the same on every machine; what the user's says depends on no search path. */
export function createLaunch(request: LaunchRequest): Launch & { command: string } {
  const { scope, server, project, isHttp, node, script } = request;
  const start = ["start", server];
  const transport = isHttp ? ["--stdio"] : [];
  if (scope === "project")
    return { command: "npx", args: ["--no-install", "trailblaze", ...start, ...transport] };
  return { command: node, args: [script, ...start, "--cwd", project, ...transport] };
}

/** The server that a command line of ours starts; `undefined` for any other command line. */
export function findStartedServer(words: readonly unknown[]): string | undefined {
  const [command, second, third] = words;
  const isProject = command === "npx" && second === "--no-install" && third === "trailblaze";
  const isUser = typeof second === "string" && /(?:^|[\\/])(?:cli\.c?js|trailblaze)$/.test(second);
  const start = isProject ? 3 : isUser ? 2 : -1;
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
