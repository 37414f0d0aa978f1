import { type Check, findInFile } from "../finding.ts";

/** Checks that Node can load the modules of items: they parse, in the format that Node expects. */
export const checkModules: Check = function* ({ moduleFaults = new Map() }) {
  for (const [file, found] of moduleFaults) {
    const { line, column } = found;
    const place = line === undefined ? {} : { line, ...(column === undefined ? {} : { column }) };
    if (found.fault === "syntax")
      yield findInFile(file, "UnparsableModule", { file, reason: found.reason }, place);
    else {
      const { readAs, isMixed } = found;
      yield findInFile(file, "WrongModuleFormat", { file, readAs, isMixed }, place);
    }
  }
};
