import { listOf, printable } from "../problems/index.ts";
import type { ClientRecord, Scope } from "./clients/client.ts";
import type { Environment } from "./entry.ts";
import type { ResolvedServer } from "./resolve-server.ts";

interface NextSteps {
  scope: Scope;
  names: readonly string[];
  omitted: readonly string[];
  /** Names of HTTP headers, whose values are in the entry. */
  headerNames: readonly string[];
  /** False for a project's entry if the project does not depend on `trailblaze`; a global one does not count. */
  canStart: boolean;
}

/** Notes for users about a new entry, as sentences. */
export function describeNextSteps(
  client: ClientRecord,
  { scope, names, omitted, headerNames, canStart }: NextSteps,
): string[] {
  const notes: string[] = [];
  if (omitted.length > 0) {
    const [were, them] = omitted.length === 1 ? ["was", "it"] : ["were", "them"];
    notes.push(
      `${listOf(omitted, "and")} ${were} omitted, because ${client.name} entries cannot refer to environment variables: ` +
        `set ${them} in the environment of ${client.name}, or add ${them} to the entry by hand.`,
    );
  } else if (names.length > 0) {
    notes.push(`${client.name} reads ${listOf(names, "and")} from its own environment.`);
  }
  if (headerNames.length > 0) {
    const whose = `The file contains the value of ${listOf(headerNames, "and")} in plain text`;
    notes.push(scope === "project" ? `${whose}: do not commit a secret.` : `${whose}.`);
  }
  notes.push(client.afterwards);
  if (scope === "project") {
    if (client.approval !== undefined) notes.push(client.approval);
    notes.push(
      "The entry starts the trailblaze package of the project, so everyone who uses the file must install the project's " +
        "dependencies.",
    );
    if (!canStart)
      notes.push(
        "The project does not depend on trailblaze, so the entry cannot start yet: add trailblaze to devDependencies.",
      );
  }
  return notes;
}

/** Warns of variables that the client passes on but that do not reach the server. */
export function warnOfVariables(
  { reachedBy, envPassthrough }: Pick<ResolvedServer, "reachedBy" | "envPassthrough">,
  { literals, names }: Environment,
): string[] {
  const lost = [...literals.keys(), ...names].filter((name) => reachedBy?.includes(name) === false);
  if (lost.length === 0) return [];
  const accepted = envPassthrough.length === 0 ? "none" : listOf(envPassthrough.map(printable), "and");
  return [
    `${listOf(lost, "and")} will not reach the server: its definition accepts these variables: ${accepted}.`,
  ];
}

/** Warns of what the parser of a client that reads plain JSON may reject: comments and a byte order mark. */
export function warnOfPlainJson({ format, name }: ClientRecord, text: string | undefined): string[] {
  if (format !== "json" || text === undefined || text.trim() === "") return [];
  const found: string[] = [];
  if (text.startsWith("\uFEFF")) found.push("starts with a byte order mark");
  try {
    JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    found.push("has comments or trailing commas");
  }
  return found.map((what) => `The file ${what}, which ${name} may not be able to read.`);
}
