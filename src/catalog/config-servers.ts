import { basename, isAbsolute } from "node:path";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import type { ItemLock, LockStates } from "./lock-states.ts";

/** A server of the project's config, without its arguments and values, which may be secret. */
export interface ConfigServer {
  name: string;
  type: "composed" | "program" | "remote" | "excluded";
  /** The program, the package or the address. */
  runs: string;
  /** Names of variables and headers. */
  names: string[];
  lock: ItemLock | undefined;
}

/** An address without credentials and query. */
function describeAddress(url: string): string {
  try {
    const { origin, pathname } = new URL(url);
    return origin === "null" ? "" : `${origin}${pathname}`;
  } catch {
    // It has a variable, so nothing says which part is secret.
    return "";
  }
}

/** A program, without the folder that only this machine has. */
const describeProgram = ({ command = "", package: name }: UserServer) =>
  name ?? (isAbsolute(command) ? basename(command) : command);

/** The servers of the config in the order of the file's parts. Pure. */
export function collectConfigServers(config: SessionConfig, states: LockStates): ConfigServer[] {
  const own = config.subprocessServers.map((server): ConfigServer => {
    const { name, url, env, headers } = server;
    return {
      name,
      type: url === undefined ? "program" : "remote",
      runs: url === undefined ? describeProgram(server) : describeAddress(url),
      names: [...Object.keys(env), ...Object.keys(headers)].sort(),
      lock: states.describeServer(server),
    };
  });
  const plain = (name: string, type: ConfigServer["type"]): ConfigServer => ({
    name,
    type,
    runs: "",
    names: [],
    lock: undefined,
  });
  return [
    ...config.servers.map(({ name }) => plain(name, "composed")),
    ...own,
    ...config.unusedServers.map(({ name }) => plain(name, "excluded")),
  ];
}
