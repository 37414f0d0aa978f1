import { isRecord } from "../../data/parse-json.ts";

/** A dependency that cannot be installed from the published package. */
export interface UnpublishableSpec {
  /** The key of package.json that declares it. */
  key: string;
  name: string;
  spec: string;
  /**
   * `workspace`: the package manager does not replace the spec when it publishes. `git`: a repository without a commit.
   * `unsupported`: npm does not understand the spec.
   */
  cause: "local" | "workspace" | "git" | "unsupported";
}

const declaringKeys = ["dependencies", "optionalDependencies", "peerDependencies"];

/** Ranges, versions and dist-tags, for which no parser is needed. */
const isPlain = (spec: string) => /^[\w.*^~<>=|+ -]*$/.test(spec) && !/\.(?:tgz|tar|tar\.gz)$/i.test(spec);

/** Folders and files of this machine, also in the words of other package managers and of Windows. */
const local = /^(?:(?:git\+)?file|link|portal):|^(?:\.{1,2}|~|[A-Za-z]:)?[\\/]|^\.{1,2}$/i;

async function explainSpec(name: string, spec: string, rewritesWorkspace: boolean) {
  if (local.test(spec)) return "local";
  if (/^(?:workspace|catalog):/.test(spec)) return rewritesWorkspace ? undefined : "workspace";
  if (isPlain(spec)) return undefined;
  const { default: parsePackageSpec } = await import("npm-package-arg");
  try {
    const { type, gitCommittish, rawSpec } = parsePackageSpec.resolve(name, spec);
    // Without a protocol, npm reads the address of a repository as a path, except on hosts that it knows.
    if (type === "file" || type === "directory")
      return /^[^/\\]+@[^/\\]+:/.test(spec) ? "unsupported" : "local";
    // npm downloads such a URL as a tarball, which it is not.
    const isGit = type === "git" || (type === "remote" && /\.git(?:#|$)/.test(rawSpec));
    const commit = gitCommittish ?? /#(.*)$/.exec(rawSpec)?.[1] ?? "";
    return isGit && !/^[\da-f]{7,64}$/i.test(commit) ? "git" : undefined;
  } catch {
    return "unsupported";
  }
}

/** Finds the dependencies that a stranger cannot install, or that change without a new version. Skips bundled ones. */
export async function findUnpublishable(
  manifest: Readonly<Record<string, unknown>>,
  rewritesWorkspace: boolean,
): Promise<UnpublishableSpec[]> {
  const bundled = manifest.bundleDependencies ?? manifest.bundledDependencies;
  const found: UnpublishableSpec[] = [];
  for (const key of declaringKeys) {
    const declared = manifest[key];
    for (const [name, spec] of isRecord(declared) ? Object.entries(declared) : []) {
      const isBundled = bundled === true || (Array.isArray(bundled) && bundled.includes(name));
      if (typeof spec !== "string" || isBundled) continue;
      const cause = await explainSpec(name, spec.trim(), rewritesWorkspace);
      if (cause !== undefined) found.push({ key, name, spec, cause });
    }
  }
  return found;
}
