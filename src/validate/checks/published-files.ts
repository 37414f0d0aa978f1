import { suggestPackage } from "../../inspection/server-package.ts";
import { quote } from "../../problems/index.ts";
import { type Check, type Finding, findInFile, findInItem } from "../finding.ts";
import { findContainingPackage, type NeededFile } from "../needed-files.ts";
import type { PackUnderTest } from "../pack-under-test.ts";

function describeFile({ file, item, path, importer }: NeededFile): Finding {
  const args = { file, importer, packageName: findContainingPackage(file) };
  if (path !== undefined) return findInItem(item, "FileNotPublished", args, path);
  const { kind, name } = item.declaration;
  const place = item.base.length > 0 ? { kind } : { kind, item: name };
  // An imported file is reported at the definition that needs it.
  return findInFile(importer === undefined ? file : (item.file ?? file), "FileNotPublished", args, place);
}

/** A program of a dependency that a server names by its path, which npm never publishes. */
function describeProgram(pack: PackUnderTest, { file, item, path = [] }: NeededFile): Finding {
  const key = path[0] === "script" ? "script" : "command";
  const bin = file.replace(/^.*node_modules\/\.bin\//, "");
  const isCommand = bin !== file;
  const name = isCommand ? pack.findCommandOwner(bin) : findContainingPackage(file);
  const hint =
    name === undefined
      ? `Replace \`${key}\` with \`package\` and the npm name of the dependency.`
      : suggestPackage(name, isCommand ? bin : undefined, key);
  const reason = `${quote(file, 200)} is in node_modules, which npm does not publish`;
  return findInItem(item, "InvalidServerDefinition", { reason, hint }, path);
}

const exportFiles = ["plugin.json", "mcp.json", ".claude-plugin/plugin.json", "server.json"];

/** The files in the package's folder that `trailblaze export` wrote. They start the package or name the export. */
function findExportFiles({ port, inspected: { pack } }: PackUnderTest): string[] {
  const { name, location } = pack;
  const marks = [`"--package=${name}@`, `"identifier": "${name}"`, '"trailblaze.export"'];
  return exportFiles.filter((file) => {
    const read = port.readFile(location, file);
    const text = read.state === "read" ? new TextDecoder().decode(read.bytes) : "";
    return marks.some((mark) => text.includes(mark));
  });
}

/**
 * Checks that npm would publish every file that items need: definitions, modules of handlers, programs of servers, and
 * their imports. Exports are warnings, because the pack does not need them.
 */
export const checkPublishedFiles: Check = async function* (pack) {
  const unpublished = await pack.unpublished();
  const isProgram = ({ file, item, path }: NeededFile) =>
    item.shape === "subprocessServer" && path !== undefined && findContainingPackage(file) !== undefined;
  for (const one of unpublished) yield isProgram(one) ? describeProgram(pack, one) : describeFile(one);
  for (const file of await pack.findLeftOut(findExportFiles(pack)))
    yield findInFile(file, "FileNotPublished", { file, isExport: true });
};
