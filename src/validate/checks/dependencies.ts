import { isRecord } from "../../data/parse-json.ts";
import { type Check, findInFile, findInManifest } from "../finding.ts";

/** Checks that the packages that published modules import are declared as dependencies. */
export const checkImports: Check = function* ({ undeclared = [] }) {
  for (const { file, line, column, ...args } of undeclared)
    yield findInFile(file, "UndeclaredDependency", args, { line, column });
};

type Cause = "local" | "workspace" | "git";

/** Explains why a dependency cannot be installed from the published package; `undefined` if it can. */
function explainSpec(spec: string, rewritesWorkspace: boolean): Cause | undefined {
  if (/^(?:file|link|portal):|^(?:\.{1,2}|~|[A-Za-z]:)?[\\/]|^\.{1,2}$/.test(spec)) return "local";
  if (/^(?:workspace|catalog):/.test(spec)) return rewritesWorkspace ? undefined : "workspace";
  const isGit =
    /^(?:git(?:\+[a-z]+)?:|git@|github:|gitlab:|bitbucket:|gist:)|^https?:[^#]*\.git(?:#|$)/.test(spec) ||
    /^[\w.-]+\/[\w.-]+(?:#|$)/.test(spec);
  return isGit && !/#[0-9a-f]{7,64}$/.test(spec) ? "git" : undefined;
}

/** Checks that the dependencies can be installed from the published package. */
export const checkDependencies: Check = function* ({ inspected, rewritesWorkspace }) {
  // Absent for private and installed packs.
  if (rewritesWorkspace === undefined) return;
  const { value } = inspected.manifest;
  const bundled = value.bundleDependencies ?? value.bundledDependencies;
  for (const key of ["dependencies", "optionalDependencies", "peerDependencies"]) {
    const declared = value[key];
    for (const [name, spec] of isRecord(declared) ? Object.entries(declared) : []) {
      const isBundled = bundled === true || (Array.isArray(bundled) && bundled.includes(name));
      const cause =
        typeof spec === "string" && !isBundled ? explainSpec(spec.trim(), rewritesWorkspace) : undefined;
      if (cause !== undefined)
        yield findInManifest("UnpublishableDependency", { name, spec: String(spec), cause }, [key, name]);
    }
  }
};
