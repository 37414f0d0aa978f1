import { type Check, findInFile, findInItem } from "../finding.ts";

/**
 * That npm would publish what the items need: definition files, modules of handlers, programs of servers, and what
 * these import.
 */
export const checkPublishedFiles: Check = function* ({ unpublished }) {
  for (const { file, item, path, importer } of unpublished) {
    const args = { file, importer };
    if (path !== undefined) {
      yield findInItem(item, "FileNotPublished", args, path);
    } else {
      const { kind, name } = item.declaration;
      const place = item.base.length > 0 ? { kind } : { kind, item: name };
      // What a definition imports is reported where it is needed, as what it names is.
      yield findInFile(importer === undefined ? file : (item.file ?? file), "FileNotPublished", args, place);
    }
  }
};
