import { isRecord } from "../../data/parse-json.ts";
import { type Check, findInManifest } from "../finding.ts";

/** What makes the registry's search, and ours, find a pack. */
const keyword = "trailblaze-extension";
const lifecycleScripts = ["preinstall", "install", "postinstall"];

/**
 * What package.json says beside the field: commands that take over Trailblaze's, scripts that run on the user's machine,
 * the keyword that is searched.
 */
export const checkPackageManifest: Check = function* ({ inspected, claims = [] }) {
  for (const { path, ...claim } of claims) yield findInManifest("ReservedCommand", claim, path);
  const { scripts, keywords } = inspected.manifest.value;
  for (const script of lifecycleScripts) {
    if (isRecord(scripts) && Object.hasOwn(scripts, script)) {
      yield findInManifest("LifecycleScript", { script }, ["scripts", script]);
    }
  }
  if (!Array.isArray(keywords) || !keywords.includes(keyword)) {
    yield findInManifest("MissingKeyword", { keyword }, ["keywords"]);
  }
};
