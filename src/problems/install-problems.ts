import { entry, entryOf } from "./entry.ts";
import { quote } from "./text.ts";

const path = (file: string) => quote(file, 400);

/** Problems in installing a server into an MCP client's config. */
export const installProblems = {
  UnknownClient: entry({
    title: "Unknown MCP client",
    severity: "error",
    message: 'Unknown MCP client "{name}".',
    hint: "Run `trailblaze clients` to list all clients.",
    when: {
      nearest: { hint: "Did you mean {nearest:or}? Run `trailblaze clients` to list all clients." },
    },
  }),
  UnknownInstallLocation: entry({
    title: "Unknown config location for this client",
    severity: "error",
    message: "Unknown config location for {client}: {reason}.",
    hint: "Pass the config file with --file.",
    when: { hint: { hint: "{hint}" } },
  }),
  NoProjectScope: entry({
    title: "Client has no project config",
    severity: "error",
    message: "{client} does not read a config from the project folder.",
    hint: "Omit --scope to install for the user.",
  }),
  ClientConfigNotFound: entry({
    title: "Client config does not exist",
    severity: "error",
    message: 'There is no file "{file:400}" to import servers from.',
    hint: "Check the path, or run `trailblaze clients` to see the files of all clients.",
  }),
  /** `isImport`: the file was to be read, not edited. */
  ClientConfigMalformed: entry({
    title: "Client config is malformed and was not changed",
    severity: "error",
    message: 'Cannot edit "{file:400}": {reason}.',
    hint: "Nothing was written. Correct the file and try again.",
    when: { isImport: { message: 'Cannot import "{file:400}": {reason}.' } },
  }),
  ClientConfigConflict: entryOf<{
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
    hint: "Choose another name with --name, or replace the entry with --force, which keeps a backup of the file.",
  }),
  /** `byHand`: the entry to paste, or what else to do in the file. */
  ClientConfigUnwritable: entry({
    title: "Client config cannot be written",
    severity: "error",
    message: 'Cannot write "{file:400}": {reason}.',
    hint: "The file was not changed. Check the permissions of the file and its folder, and the free disk space.",
    when: { byHand: { hint: "The file was not changed. Edit it by hand: {byHand:lines}" } },
  }),
};
