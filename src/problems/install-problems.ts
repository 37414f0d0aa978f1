import { entry } from "./entry.ts";
import { listOf, printable, quote } from "./text.ts";

const path = (file: string) => quote(file, 400);

/** Problems in installing a server into an MCP client's config. */
export const installProblems = {
  UnknownClient: entry<{ name: string; nearest: readonly string[] }>({
    title: "Unknown MCP client",
    severity: "error",
    message: ({ name }) => `Unknown MCP client ${quote(name)}.`,
    hint: ({ nearest }) =>
      nearest.length > 0
        ? `Did you mean ${listOf(nearest)}? Run \`trailblaze clients\` to list all clients.`
        : "Run `trailblaze clients` to list all clients.",
  }),
  UnknownInstallLocation: entry<{
    client: string;
    /** Continues after a colon, without a period. */
    reason: string;
    hint?: string;
  }>({
    title: "Unknown config location for this client",
    severity: "error",
    message: ({ client, reason }) => `Unknown config location for ${client}: ${printable(reason)}.`,
    hint: ({ hint }) => hint ?? "Pass the config file with --file.",
  }),
  NoProjectScope: entry<{ client: string }>({
    title: "Client has no project config",
    severity: "error",
    message: ({ client }) => `${client} does not read a config from the project folder.`,
    hint: () => "Omit --scope to install for the user.",
  }),
  ClientConfigNotFound: entry<{ file: string }>({
    title: "Client config does not exist",
    severity: "error",
    message: ({ file }) => `There is no file ${path(file)} to import servers from.`,
    hint: () => "Check the path, or run `trailblaze clients` to see the files of all clients.",
  }),
  ClientConfigMalformed: entry<{
    file: string;
    /** Continues after a colon, without a period. */
    reason: string;
    /** The file was to be read, not edited. */
    isImport?: boolean;
  }>({
    title: "Client config is malformed and was not changed",
    severity: "error",
    message: ({ file, reason, isImport }) =>
      `Cannot ${isImport ? "import" : "edit"} ${path(file)}: ${printable(reason)}.`,
    hint: () => "Nothing was written. Correct the file and try again.",
  }),
  ClientConfigConflict: entry<{
    file: string;
    key: string;
    /** The server that the entry starts, if Trailblaze wrote it; `null` for a project's session. */
    owner: string | null | undefined;
    /** The project of that server, if it is a different one. */
    project?: string | undefined;
  }>({
    title: "Client config already has an entry with this name",
    severity: "error",
    message: ({ file, key, owner, project }) => {
      if (owner === undefined)
        return `${path(file)} already has an entry ${quote(key)} that Trailblaze did not write.`;
      const where = project === undefined ? "" : ` in the project ${path(project)}`;
      const started = owner === null ? "the session" : quote(owner, 200);
      return `${path(file)} already has an entry ${quote(key)}, which starts ${started}${where}.`;
    },
    hint: () =>
      "Choose another name with --name, or replace the entry with --force, which keeps a backup of the file.",
  }),
  ClientConfigUnwritable: entry<{
    file: string;
    /** Continues after a colon, without a period. */
    reason: string;
    /** The entry to paste, or what else to do in the file. */
    byHand?: string;
  }>({
    title: "Client config cannot be written",
    severity: "error",
    message: ({ file, reason }) => `Cannot write ${path(file)}: ${printable(reason)}.`,
    hint: ({ byHand }) =>
      byHand === undefined
        ? "The file was not changed. Check the permissions of the file and its folder, and the free disk space."
        : `The file was not changed. Edit it by hand: ${byHand}`,
  }),
};
