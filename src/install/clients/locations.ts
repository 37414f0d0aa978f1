import { existsSync } from "node:fs";
import { isAbsolute, posix, resolve, win32 } from "node:path";
import { findProject } from "../../discovery/project.ts";
import { attempt } from "../../files/file-errors.ts";
import { discoveryPort } from "../../files/node-discovery-port.ts";
import { type ClientRecord, clients, type Scope } from "./index.ts";

export interface Host {
  platform: NodeJS.Platform;
  environment: Readonly<Record<string, string | undefined>>;
  /** Absolute; `undefined` if the environment does not name it. */
  home: string | undefined;
}

const pathOf = (platform: NodeJS.Platform) => (platform === "win32" ? win32 : posix);

export function readHost(): Host {
  const { platform, env } = process;
  // From the environment only, because a guess could lead to another user's files.
  const home = platform === "win32" ? env.USERPROFILE : env.HOME;
  return { platform, environment: env, home: home && isAbsolute(home) ? home : undefined };
}

/** The file that is used of those that a client reads: the first existing one, or else the first. */
export const chooseFile = (files: readonly string[]): string | undefined =>
  files.find((file) => existsSync(file)) ?? files[0];

function expandPath(
  template: string,
  { platform, environment, home }: Host,
  project: string,
): string | undefined {
  const path = pathOf(platform);
  const expanded = template.replace(/^\$\{([A-Z_]+):-([^}]*)\}/, (_, name: string, fallback: string) => {
    const value = environment[name];
    // Like the clients, ignore a variable without an absolute path.
    return value !== undefined && path.isAbsolute(value) ? value : fallback;
  });
  if (expanded.startsWith("./")) return path.join(project, expanded);
  if (!/^~(?:\/|$)/.test(expanded)) return path.normalize(expanded);
  return home === undefined ? undefined : path.join(home, expanded.slice(1));
}

/** The possible paths of a client's file, best first; empty if it has none in this scope or on this system. */
export function findCandidates(client: ClientRecord, scope: Scope, host: Host, project: string): string[] {
  const { platform } = host;
  const system = platform === "win32" || platform === "darwin" ? platform : "linux";
  const templates = (scope === "project" ? client.project : client.user[system]) ?? [];
  return templates.flatMap((template) => expandPath(template, host, project) ?? []);
}

export function findSigns(client: ClientRecord, host: Host): string[] {
  const path = pathOf(host.platform);
  const files = findCandidates(client, "user", host, "");
  if (client.signs === undefined) return files.flatMap((file) => [file, path.dirname(file)]);
  // A client without a file on this system cannot be used here.
  if (files.length === 0) return [];
  return client.signs.flatMap((sign) => expandPath(sign, host, "") ?? []);
}

/** A known client with its files. */
export type ListedClient = Awaited<ReturnType<typeof listClients>>["clients"][number];

/** All known clients with their files, and whether they are installed. Reads no config. */
export async function listClients({ cwd = process.cwd() }: { cwd?: string } = {}) {
  const host = readHost();
  // A folder that may become a project's.
  const project = attempt(() => findProject(discoveryPort, cwd).directory) ?? resolve(cwd);
  const listed = clients.map((client) => ({
    id: client.id,
    name: client.name,
    aliases: [...client.aliases],
    format: client.format,
    /** Absolute; `null` if the client has none on this system, or its location is unknown. */
    userFile: chooseFile(findCandidates(client, "user", host, "")) ?? null,
    /** Absolute, for the project of the folder; `null` if the client reads none. */
    projectFile: chooseFile(findCandidates(client, "project", host, project)) ?? null,
    /** Whether the client seems to be installed. */
    present: findSigns(client, host).some((sign) => existsSync(sign)),
  }));
  return { clients: listed };
}
