import { isRecord } from "../../data/parse-json.ts";
import { type Check, findInFile } from "../finding.ts";

/** Checks that exported files start this version of the package, and that npm publishes them. */
export const checkExports: Check = function* ({ inspected, exportFiles = [], unpublishedExports = [] }) {
  const { pack, manifest } = inspected;
  const { bin } = manifest.value;
  const shortName = pack.name.slice(pack.name.indexOf("/") + 1);
  const commands = isRecord(bin) ? Object.keys(bin) : typeof bin === "string" ? [shortName] : [];
  for (const { file, starts } of exportFiles) {
    const outdated = starts.find(
      ({ version, command }) =>
        version !== pack.version || (command !== undefined && !commands.includes(command)),
    );
    if (outdated === undefined) continue;
    const { version, command } = outdated;
    const found = `${pack.name}@${version}${command === undefined ? "" : ` ${command}`}`;
    yield findInFile(file, "ExportOutdated", { file, found, expected: `${pack.name}@${pack.version}` });
  }
  for (const file of unpublishedExports) yield findInFile(file, "FileNotPublished", { file, isExport: true });
};
