import { builtinModules } from "node:module";
import valid from "semver/functions/valid.js";
import { describeType } from "../../data/parse-json.ts";
import { type Check, findInManifest } from "../finding.ts";

/** Explains why npm refuses a new package with this name; `undefined` if it accepts the name. */
function explainInvalidName(name: unknown): string | undefined {
  if (typeof name !== "string") return `it is ${describeType(name)}`;
  if (name === "") return "it is empty";
  if (name.length > 214) return "it has more than 214 characters";
  if (name !== name.trim()) return "it starts or ends with a space";
  if (name !== name.toLowerCase()) return "it has capital letters";
  if (/^[._-]/.test(name)) return 'it starts with ".", "_" or "-"';
  if (/^@[^/]*\/\./.test(name)) return 'it has a "." after its scope';
  if (["node_modules", "favicon.ico"].includes(name)) return "npm reserves it";
  if (builtinModules.includes(name)) return "it is the name of a built-in module of Node";
  return /^(?:@[a-z0-9._-]+\/)?[a-z0-9._-]+$/.test(name)
    ? undefined
    : 'it has a character other than a-z, 0-9, ".", "_" and "-"';
}

function explainInvalidVersion(version: unknown): string | undefined {
  if (typeof version !== "string") return `it is ${describeType(version)}`;
  return valid(version) === null ? "it is not a semver version" : undefined;
}

/** Checks that npm accepts the name and the version. Reports private packages, which npm does not publish. */
export const checkNameAndVersion: Check = function* ({ inspected }) {
  const { pack, manifest } = inspected;
  if (pack.origin !== "self" && pack.origin !== "workspace") return;
  const isPrivate = manifest.value.private === true;
  if (isPrivate) yield findInManifest("PrivatePackage", {}, ["private"]);
  const explain = { name: explainInvalidName, version: explainInvalidVersion } as const;
  for (const key of ["name", "version"] as const) {
    const value = manifest.value[key];
    const reason = value === undefined && isPrivate ? undefined : explain[key](value);
    if (reason === undefined) continue;
    const found = typeof value === "string" ? value : undefined;
    yield findInManifest("InvalidPackageManifest", { key, value: found, reason }, [key]);
  }
};
