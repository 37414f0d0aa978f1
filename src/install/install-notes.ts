import { listOf, printable } from "../problems/index.ts";
import type { ClientRecord, Scope } from "./clients/client.ts";
import type { Environment } from "./entry/build-entry.ts";
import type { ResolvedServer } from "./resolve-server.ts";

interface NextSteps {
  scope: Scope;
  names: readonly string[];
  leftOut: readonly string[];
  /** False for a project's entry where the project lacks `trailblaze`; a global one does not count. */
  canStart: boolean;
}

/** What people should know of an entry that was written, a sentence each. */
export function describeNextSteps(
  client: ClientRecord,
  { scope, names, leftOut, canStart }: NextSteps,
): string[] {
  const notes: string[] = [];
  if (leftOut.length > 0) {
    const [were, them] = leftOut.length === 1 ? ["was", "it"] : ["were", "them"];
    notes.push(
      `${listOf(leftOut, "and")} ${were} not written, since ${client.name} has no way to refer to the environment: ` +
        `set ${them} where ${client.name} is started, or add ${them} to the entry by hand.`,
    );
  } else if (names.length > 0) {
    notes.push(`${client.name} takes ${listOf(names, "and")} from the environment that it is started in.`);
  }
  notes.push(client.afterwards);
  if (scope === "project") {
    if (client.approval !== undefined) notes.push(client.approval);
    notes.push(
      "The entry starts the trailblaze that is installed in the project: everyone who uses the file needs the packages " +
        "installed.",
    );
    if (!canStart)
      notes.push(
        "This project does not have trailblaze, so the entry cannot start yet: add it to devDependencies.",
      );
  }
  return notes;
}

/** Variables that were asked for and that do not reach the server, although the client passes them on. */
export function warnOfVariables(
  { reachedBy, envPassthrough }: Pick<ResolvedServer, "reachedBy" | "envPassthrough">,
  { literals, names }: Environment,
): string[] {
  const lost = [...literals.keys(), ...names].filter((name) => reachedBy?.includes(name) === false);
  if (lost.length === 0) return [];
  const taken = envPassthrough.length === 0 ? "none" : listOf(envPassthrough.map(printable), "and");
  return [
    `${listOf(lost, "and")} will not reach the server: its pack says which variables it takes (${taken}).`,
  ];
}

/** A comment in a file of a client that reads plain JSON only keeps the client from reading any of it. */
export function warnOfComments({ format, name }: ClientRecord, text: string | undefined): string[] {
  if (format !== "json" || text === undefined || text.trim() === "") return [];
  try {
    JSON.parse(text.replace(/^\uFEFF/, ""));
    return [];
  } catch {
    return [`The file has comments or a comma too many, which ${name} may not read.`];
  }
}
