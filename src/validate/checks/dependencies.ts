import { type Check, findInFile, findInManifest } from "../finding.ts";

/** Checks that the packages that published modules import are declared as dependencies. */
export const checkImports: Check = function* ({ undeclared = [] }) {
  for (const { file, line, column, ...args } of undeclared)
    yield findInFile(file, "UndeclaredDependency", args, { line, column });
};

/** Checks that the dependencies can be installed from the published package. */
export const checkDependencies: Check = function* ({ unpublishable = [] }) {
  for (const { key, ...args } of unpublishable)
    yield findInManifest("UnpublishableDependency", args, [key, args.name]);
};
