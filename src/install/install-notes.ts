import { listOf } from "../problems/index.ts";
import type { ClientRecord, Scope } from "./clients/client.ts";

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
  notes.push(`Restart ${client.name}, or start a new session in it, to load the new configuration.`);
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
