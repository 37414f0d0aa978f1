import { quote } from "../../problems/index.ts";
import { type Check, findInFile } from "../finding.ts";

/** Checks that Node can load the modules of items: they parse, in the format that Node expects. */
export const checkModules: Check = async function* ({ moduleFaults }) {
  for (const [file, found] of await moduleFaults()) {
    const { line, column } = found;
    const place = line === undefined ? {} : { line, ...(column === undefined ? {} : { column }) };
    if (found.fault === "syntax")
      yield findInFile(file, "UnparsableModule", { file, reason: found.reason }, place);
    else if (found.fault === "variable") {
      const { name, isInFunction } = found;
      yield findInFile(
        file,
        "WrongModuleFormat",
        { file, readAs: "esm", isMixed: true, name, isInFunction },
        place,
      );
    } else {
      const { readAs, isMixed } = found;
      yield findInFile(file, "WrongModuleFormat", { file, readAs, isMixed }, place);
    }
  }
};

/** Checks that published modules import no files outside the package. */
export const checkOutsideImports: Check = async function* ({ outsideImports }) {
  for (const { specifier, packageName, file, line, column } of await outsideImports()) {
    const hint =
      packageName === undefined
        ? undefined
        : `Import ${quote(packageName)} by its name: npm does not publish node_modules.`;
    yield findInFile(file, "DefinitionOutsidePackage", { what: specifier, hint }, { line, column });
  }
};
