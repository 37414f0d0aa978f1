import { listOf } from "../problems/index.ts";
import type { ClientRecord, Scope } from "./clients/client.ts";

/** What people should know of an entry that was written, a sentence each. */
export function describeNextSteps(
  client: ClientRecord,
  { scope, names, leftOut }: { scope: Scope; names: readonly string[]; leftOut: readonly string[] },
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
      "The entry starts npx in the project's folder; whoever has the file needs the packages installed.",
    );
  }
  return notes;
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
