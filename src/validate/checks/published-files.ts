import { findNeededFiles } from "../../definitions/needed-files.ts";
import { type Check, findInFile, findInItem } from "../finding.ts";

/** That npm would publish what the items need: definition files, modules of handlers, programs of servers. */
export const checkPublishedFiles: Check = function* ({ unpublished, inspected }) {
  const reported = new Set<string>();
  for (const { file, item, path } of findNeededFiles(inspected.items)) {
    if (!unpublished.has(file) || reported.has(file)) continue;
    reported.add(file);
    if (path !== undefined) {
      yield findInItem(item, "FileNotPublished", { file }, path);
    } else {
      const { kind, name } = item.declaration;
      const isCombined = item.base.length > 0;
      yield findInFile(file, "FileNotPublished", { file }, isCombined ? { kind } : { kind, item: name });
    }
  }
};
