import { entry, entryOf } from "./entry.ts";
import { quote } from "./text.ts";

/** Problems of what is written from a pack: its documentation and its exports. */
export const publishProblems = {
  DocsMarkersMissing: entryOf<{ file: string; opening: number; closing: number }>({
    title: "File has no section for the documentation",
    severity: "error",
    message: ({ file, opening, closing }) => {
      const start = `Cannot write the documentation into ${quote(file, 400)}: `;
      if (opening === 0 && closing === 0) return `${start}it has no markers.`;
      if (opening === 1 && closing === 1) return `${start}the closing marker comes first.`;
      return `${start}it has the opening marker ${countTimes(opening)} and the closing one ${countTimes(closing)}.`;
    },
    hint: "Add the lines `<!-- trailblaze:docs -->` and `<!-- /trailblaze:docs -->`, once each and in this order.",
  }),
  CatalogFolderTaken: entry({
    title: "Folder is not empty and not a catalog",
    severity: "error",
    message: 'Cannot write the catalog to "{folder:400}": {reason}.',
    hint: "Pass a folder that is empty or that `trailblaze catalog` has written, or move the file away.",
  }),
  ExportConflict: entry({
    title: "Export would replace a file with other contents",
    severity: "error",
    message: '"{file:400}" exists with other contents.',
    hint: "Pass --force to replace it, or --out to write to another folder.",
    when: { key: { message: '"{key}" in "{file:400}" has another value.' } },
  }),
  ExportNeedsBin: entry({
    title: "No command of the package starts the server",
    severity: "error",
    message: 'The command of the server "{name:200}" is not the one that npx runs by default.',
    hint: 'In "bin" of package.json, give its command the name of the package without the scope.',
    when: {
      isDefault: {
        message: 'No command in "bin" of package.json starts the server "{name:200}".',
        hint: "Run `trailblaze export bin {server:shell}`.",
      },
    },
  }),
  ExportNameUnusable: entry({
    title: "Format of the export does not allow the name",
    severity: "error",
    message: 'The format does not allow the name "{name:200}": it takes {rule}.',
    hint: "Pass another one with --name.",
  }),
  ExportNeedsMcpName: entry({
    title: "The package has no usable mcpName",
    severity: "error",
    message: 'package.json has no "mcpName", which names the server in the MCP registry.',
    hint: 'Add, for example, "mcpName": "io.github.OWNER/NAME". The registry checks that OWNER is you.',
    when: {
      mcpName: {
        message: '"mcpName" in package.json is "{mcpName:200}", which the MCP registry does not allow.',
      },
    },
  }),
  ExportDescriptionTooLong: entry({
    title: "Description does not fit the format of the export",
    severity: "error",
    message: "The format requires a description of 1 to {most:number} characters, and package.json has none.",
    hint: "Pass a shorter one with --description.",
    when: {
      length: {
        message: "The description has {length:number} characters, and the format allows {most:number}.",
      },
    },
  }),
  EnvironmentNotExported: entry({
    title: "Export has no place for an environment variable",
    severity: "warning",
    message: 'The format {format} has no place for the environment variable "{name}" of the server.',
    hint: "Tell users to set {name} in their environment.",
  }),
};

const countTimes = (count: number): string =>
  count === 0 ? "not at all" : count === 1 ? "once" : `${count} times`;
