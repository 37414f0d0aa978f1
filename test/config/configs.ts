import { loadConfig, readConfig } from "../../src/config/read-config.ts";
import type { SessionConfig } from "../../src/config/session-config.ts";
import { inspectionPort as port } from "../../src/files/node-inspection-port.ts";
import type { Problem } from "../../src/problems/index.ts";
import { makeTree } from "../support/packs.ts";

/** A project with these files beside its package.json. */
export const makeProject = (files: Readonly<Record<string, unknown>> = {}) =>
  makeTree({ "package.json": { name: "app" }, ...files });

/** The config of a project, which is read as a session reads it. */
export const readFrom = (directory: string, config?: unknown, cwd?: string): Promise<SessionConfig> =>
  readConfig(port, { directory, config, cwd });

export const readYaml = (text: string) => readFrom(makeProject({ "trailblaze.config.yaml": text }));
export const readObject = (config: unknown) => readFrom("/work", config);

export const faultsIn = async (directory: string, config?: unknown): Promise<Problem[]> =>
  (await loadConfig(port, { directory, config })).errors;

export const faultsOfYaml = (text: string) => faultsIn(makeProject({ "trailblaze.config.yaml": text }));
export const faultsOfJson = (text: unknown) => faultsIn(makeProject({ "trailblaze.config.json": text }));
export const faultsOfObject = (config: unknown) => faultsIn("/work", config);
