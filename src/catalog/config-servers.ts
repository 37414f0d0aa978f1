import { basename, isAbsolute } from "node:path";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import type { ItemLock, LockStates } from "./lock-states.ts";

/** A server of the project's config, without its arguments and values, which may be secret. */
export interface ConfigServer {
  name: string;
  type: "composed" | "program" | "remote" | "excluded";
  /** The program, the package or the origin of the address. */
  runs: string;
  /** Names of variables and headers. */
  names: string[];
  lock: ItemLock | undefined;
}

/** The origin of an address, whose path and query may be secret; nothing if a variable stands in its place. */
function originOf(url: string): string {
  const origin = URL.canParse(url) ? new URL(url).origin : "null";
  return origin === "null" ? "" : origin;
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
      runs: url === undefined ? describeProgram(server) : originOf(url),
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
