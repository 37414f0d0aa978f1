import { entry } from "./entry.ts";

/** Problems of what is written from a pack: its documentation and its exports. */
export const publishProblems = {
  DocsMarkersMissing: entry({
    message:
      'Cannot write the documentation into "{file:400}": it needs one opening marker, then one closing marker; found {opening:number} and {closing:number}.',
    hint: "Add the lines `<!-- trailblaze:docs -->` and `<!-- /trailblaze:docs -->`, once each and in this order.",
  }),
  CatalogFolderTaken: entry({
    message: 'Cannot write the catalog to "{folder:400}": {reason}.',
    hint: "Pass a folder that is empty or that `trailblaze catalog` has written, or move the file away.",
  }),
  ExportConflict: entry({
    message: '"{file:400}" exists with other contents.',
    hint: "Pass --force to replace it, or --out to write to another folder.",
    when: { key: { message: '"{key}" in "{file:400}" has another value.' } },
  }),
  ExportNeedsBin: entry({
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
    message: 'The format does not allow the name "{name:200}": it takes {rule}.',
    hint: "Pass another one with --name.",
  }),
  ExportNeedsMcpName: entry({
    message: 'package.json has no "mcpName", which names the server in the MCP registry.',
    hint: 'Add, for example, "mcpName": "io.github.OWNER/NAME". The registry checks that OWNER is you.',
    when: {
      mcpName: {
        message: '"mcpName" in package.json is "{mcpName:200}", which the MCP registry does not allow.',
      },
    },
  }),
  ExportDescriptionTooLong: entry({
    message: "The format requires a description of 1 to {most:number} characters, and package.json has none.",
    hint: "Pass a shorter one with --description.",
    when: {
      length: {
        message: "The description has {length:number} characters, and the format allows {most:number}.",
      },
    },
  }),
  EnvironmentNotExported: entry({
    severity: "warning",
    message: 'The format {format} has no place for the environment variable "{name}" of the server.',
    hint: "Tell users to set {name} in their environment.",
  }),
};
