import { entry } from "./entry.ts";
import { printable, quote, quoteForShell } from "./text.ts";

/** Problems of what is written from a pack: its documentation and its exports. */
export const publishProblems = {
  DocsMarkersMissing: entry<{ file: string; opening: number; closing: number }>({
    title: "File has no section for the documentation",
    severity: "error",
    message: ({ file, opening, closing }) => {
      const start = `Cannot write the documentation into ${quote(file, 400)}: `;
      if (opening === 0 && closing === 0) return `${start}it has no markers.`;
      if (opening === 1 && closing === 1) return `${start}the closing marker comes first.`;
      return `${start}it has the opening marker ${countTimes(opening)} and the closing one ${countTimes(closing)}.`;
    },
    hint: () =>
      "Add the lines `<!-- trailblaze:docs -->` and `<!-- /trailblaze:docs -->`, once each and in this order.",
  }),
  CatalogFolderTaken: entry<{ folder: string; reason: string }>({
    title: "Folder is not empty and not a catalog",
    severity: "error",
    message: ({ folder, reason }) => `Cannot write the catalog to ${quote(folder, 400)}: ${reason}.`,
    hint: () =>
      "Pass a folder that is empty or that `trailblaze catalog` has written, or move the file away.",
  }),
  ExportConflict: entry<{ file: string; key?: string }>({
    title: "Export would replace a file with other contents",
    severity: "error",
    message: ({ file, key }) =>
      key === undefined
        ? `${quote(file, 400)} exists with other contents.`
        : `${quote(key)} in ${quote(file, 400)} has another value.`,
    hint: () => "Pass --force to replace it, or --out to write to another folder.",
  }),
  ExportNeedsBin: entry<{ name: string; server: string; isDefault: boolean }>({
    title: "No command of the package starts the server",
    severity: "error",
    message: ({ name, isDefault }) =>
      isDefault
        ? `No command in "bin" of package.json starts the server ${quote(name, 200)}.`
        : `The command of the server ${quote(name, 200)} is not the one that npx runs by default.`,
    hint: ({ server, isDefault }) =>
      isDefault
        ? `Run \`trailblaze export bin ${quoteForShell(printable(server))}\`.`
        : 'In "bin" of package.json, give its command the name of the package without the scope.',
  }),
  ExportNameUnusable: entry<{ name: string; rule: string }>({
    title: "Format of the export does not allow the name",
    severity: "error",
    message: ({ name, rule }) => `The format does not allow the name ${quote(name, 200)}: it takes ${rule}.`,
    hint: () => "Pass another one with --name.",
  }),
  ExportNeedsMcpName: entry<{ mcpName: string | undefined }>({
    title: "The package has no usable mcpName",
    severity: "error",
    message: ({ mcpName }) =>
      mcpName === undefined
        ? 'package.json has no "mcpName", which names the server in the MCP registry.'
        : `"mcpName" in package.json is ${quote(mcpName, 200)}, which the MCP registry does not allow.`,
    hint: () => 'Add, for example, "mcpName": "io.github.OWNER/NAME". The registry checks that OWNER is you.',
  }),
  ExportDescriptionTooLong: entry<{ length: number; most: number }>({
    title: "Description does not fit the format of the export",
    severity: "error",
    message: ({ length, most }) =>
      length === 0
        ? `The format requires a description of 1 to ${most} characters, and package.json has none.`
        : `The description has ${length} characters, and the format allows ${most}.`,
    hint: () => "Pass a shorter one with --description.",
  }),
  EnvironmentNotExported: entry<{ name: string; format: string }>({
    title: "Export has no place for an environment variable",
    severity: "warning",
    message: ({ name, format }) =>
      `The format ${format} has no place for the environment variable ${quote(name)} of the server.`,
    hint: ({ name }) => `Tell users to set ${name} in their environment.`,
  }),
};

const countTimes = (count: number): string =>
  count === 0 ? "not at all" : count === 1 ? "once" : `${count} times`;
