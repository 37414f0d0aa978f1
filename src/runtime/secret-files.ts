import { resolve } from "node:path";
import { parseEnv } from "node:util";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import { explainFileError, readBytes } from "../files/write-files.ts";
import { type Path, quote } from "../problems/index.ts";
import { decidesWhatRuns } from "./server-environment.ts";

const mostBytes = 1 << 20;
/** Shorter values of variables, such as `true` and `3000`, occur in too many other texts. */
const shortestSecret = 8;

/** A file of variables or secrets that cannot be read. The message is a reason for users. */
export class SecretFileError extends Error {
  readonly path: Path;
  constructor(message: string, path: Path) {
    super(message);
    this.path = path;
  }
}

/** The text of a file with a secret. `written`: its path for people. Throws `SecretFileError`, with `path`. */
function readText(directory: string, file: string, path: Path, written = file): string {
  let reason = "it does not exist";
  try {
    const bytes = readBytes(resolve(directory, file), mostBytes);
    if (bytes !== undefined) return bytes.toString().replace(/^\uFEFF/, "");
  } catch (error) {
    reason = explainFileError(error) ?? "it cannot be read";
  }
  throw new SecretFileError(`its file ${quote(written, 400)} cannot be used: ${reason}`, path);
}

/** A secret in a file of its own, whose path may have secret parts. Throws `SecretFileError`. */
export const readSecret = (directory: string, file: string, path: Path, written: string): string =>
  readText(directory, file, path, written).replace(/\r?\n$/, "");

/** What the files of variables say, for a server of the user's or else for those of packs. */
export interface FileVariables {
  values: Readonly<Record<string, string>>;
  secrets: readonly string[];
}

/**
 * Reads `envFile` of the config, then that of a server, whose values win. Where there is a lock, none of them decides what runs.
 * Throws `SecretFileError`.
 */
export function readFileVariables(
  { directory, envFile }: Pick<SessionConfig, "directory" | "envFile">,
  isLocked: boolean,
  server?: Pick<UserServer, "envFile" | "path">,
): FileVariables {
  const ofServer = server?.envFile;
  const texts = [
    envFile === undefined ? "" : readText(directory, envFile, ["envFile"]),
    ofServer === undefined ? "" : readText(directory, ofServer, [...(server?.path ?? []), "envFile"]),
  ];
  const entries = texts.flatMap((text) => Object.entries(text === "" ? {} : parseEnv(text)));
  return {
    values: Object.fromEntries(
      entries.flatMap(([name, value = ""]) => (isLocked && decidesWhatRuns(name) ? [] : [[name, value]])),
    ),
    secrets: entries.flatMap(([, value = ""]) => (value.length < shortestSecret ? [] : [value])),
  };
}
