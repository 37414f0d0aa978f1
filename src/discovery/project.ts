import { dirname, join, resolve } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import type { DiscoveryPort, ProjectFile } from "../files/discovery-port.ts";
import { failure } from "../problems/index.ts";
import { isFault, readManifest } from "./manifest.ts";
import type { Manifest } from "./types.ts";

export interface Project {
  /** Absolute path, symbolic links followed. */
  directory: string;
  /** `undefined` if the project's package.json is broken. Discovery continues anyway. */
  manifest: Manifest | undefined;
}

export function* ancestorsOf(directory: string): Generator<string> {
  for (let current = directory; ; current = dirname(current)) {
    yield current;
    if (current === dirname(current)) return;
  }
}

/** Finds the project that contains a folder. Throws `TrailblazeError` `ProjectNotFound`. */
export function findProject(port: DiscoveryPort, cwd: string): Project {
  const start = port.realPath(resolve(cwd));
  if (start === undefined) throw failure("ProjectNotFound", { directory: resolve(cwd), exists: false });
  for (const directory of ancestorsOf(start)) {
    const read = readManifest(port, directory);
    if (read === undefined) continue;
    if (isFault(read)) return { directory, manifest: undefined };
    // A package.json that only tells Node how to load modules does not define a project.
    if (Object.keys(read.value).join() !== "type") return { directory, manifest: read };
  }
  const denoFile = findProjectFile(port, ancestorsOf(start), ["deno.json", "deno.jsonc"]);
  throw failure("ProjectNotFound", { directory: start, exists: true, denoFile });
}

export function findProjectFile(
  port: DiscoveryPort,
  folders: Iterable<string>,
  names: readonly ProjectFile[],
): string | undefined {
  for (const folder of folders)
    for (const name of names) if (port.hasProjectFile(folder, name)) return join(folder, name);
  return undefined;
}

/** The keys of a package.json that declare what is installed with a package. */
export const installedKeys: readonly string[] = ["dependencies", "optionalDependencies", "peerDependencies"];

export const dependencyKeys: readonly string[] = [...installedKeys, "devDependencies"];

/** The names under which a package.json declares dependencies, of any kind. */
export function declaredDependencies(manifest: Manifest | undefined, keys = dependencyKeys): Set<string> {
  const names = new Set<string>();
  for (const key of keys) {
    const declared = manifest?.value[key];
    if (isRecord(declared)) for (const name of Object.keys(declared)) names.add(name);
  }
  return names;
}
