import { isRecord } from "../data/parse-json.ts";

/** What a registry knows of a package with all its versions may be long. */
export const maximumPackumentBytes = 64 << 20;

const own = (value: unknown, key: string): unknown =>
  isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** The manifest of a version, or of the version that a tag stands for. Pure. */
export function findVersion(packument: unknown, versionOrTag: string): unknown {
  const tagged = own(own(packument, "dist-tags"), versionOrTag);
  return own(own(packument, "versions"), typeof tagged === "string" ? tagged : versionOrTag);
}
