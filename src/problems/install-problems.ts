import { entry } from "./entry.ts";
import { listOf, printable, quote } from "./text.ts";

const path = (file: string) => quote(file, 400);

/** Faults in installing a server into an MCP client's config. */
export const installProblems = {
  UnknownClient: entry<{ name: string; nearest: readonly string[] }>({
    title: "There is no such MCP client",
    severity: "error",
    message: ({ name }) => `${quote(name)} is no client that Trailblaze knows.`,
    hint: ({ nearest }) =>
      nearest.length > 0
        ? `Did you mean ${listOf(nearest)}? \`trailblaze clients\` lists them all.`
        : "`trailblaze clients` lists them all.",
  }),
  UnknownInstallLocation: entry<{
    client: string;
    /** Goes on from "is not known:", without a full stop. */
    reason: string;
    hint?: string;
  }>({
    title: "Nobody knows where the client's config is",
    severity: "error",
    message: ({ client, reason }) => `Where ${client} has its config is not known: ${printable(reason)}.`,
    hint: ({ hint }) => hint ?? "Name the file with --file.",
  }),
  NoProjectScope: entry<{ client: string }>({
    title: "The client reads no file of a project",
    severity: "error",
    message: ({ client }) => `${client} reads no config from a project's folder.`,
    hint: () => "Install for the user instead: leave --scope out.",
  }),
  ClientConfigMalformed: entry<{
    file: string;
    /** Goes on from "because", without a full stop. */
    reason: string;
  }>({
    title: "A client's config is broken, and was left alone",
    severity: "error",
    message: ({ file, reason }) => `${path(file)} was left as it is: ${printable(reason)}.`,
    hint: () => "Correct the file, then try again. Nothing was written.",
  }),
  ClientConfigConflict: entry<{
    file: string;
    key: string;
    /** The server of ours that the entry starts, if it is one. */
    owner: string | undefined;
    /** The project in which it starts it, if that is another one. */
    project?: string | undefined;
  }>({
    title: "The client has another entry of that name",
    severity: "error",
    message: ({ file, key, owner, project }) => {
      if (owner === undefined)
        return `${path(file)} has an entry ${quote(key)} that Trailblaze did not write.`;
      const where = project === undefined ? "" : ` of the project ${path(project)}`;
      return `${path(file)} has an entry ${quote(key)} already, which starts ${quote(owner, 200)}${where}.`;
    },
    hint: () => "Choose another name with --name, or replace it with --force: uninstalling brings it back.",
  }),
  ClientConfigModified: entry<{ file: string; key: string }>({
    title: "The entry was edited since it was installed",
    severity: "error",
    message: ({ file, key }) =>
      `The entry ${quote(key)} in ${path(file)} is not as Trailblaze wrote it, so it was kept.`,
    hint: () => "Take it out by hand, or use --force, which loses the changes.",
  }),
  ClientConfigUnwritable: entry<{
    file: string;
    /** Goes on from "cannot be written:", without a full stop. */
    reason: string;
  }>({
    title: "A client's config cannot be written",
    severity: "error",
    message: ({ file, reason }) => `${path(file)} cannot be written: ${printable(reason)}.`,
    hint: () => "The file is as it was. See who may write it and its folder, and how much space is left.",
  }),
};
