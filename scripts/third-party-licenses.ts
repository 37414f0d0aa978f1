import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The part of a bundler's plugin interface that is used here. */
interface LicensePlugin {
  name: string;
  generateBundle(this: BundleContext, options: unknown, bundle: Record<string, BundleEntry>): void;
}
interface BundleContext {
  emitFile(file: { type: "asset"; fileName: string; source: string }): void;
}
interface BundleEntry {
  type: string;
  moduleIds?: string[];
}

/** The folder of the npm package that contains a module; `undefined` for this package. */
function findPackageFolder(moduleId: string): string | undefined {
  return /^(?:\0)?(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(moduleId)?.[1];
}

function describePackage(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[sc]e/i.test(entry));
  const text = file === undefined ? `License: ${license}` : readFileSync(join(folder, file), "utf8").trim();
  return `${name} ${version}\n\n${text}\n`;
}

/** Writes the licenses of all bundled packages next to the bundle, as they require. */
export function thirdPartyLicenses(fileName: string): LicensePlugin {
  return {
    name: "third-party-licenses",
    generateBundle(_options, bundle) {
      const folders = new Set<string>();
      for (const { type, moduleIds = [] } of Object.values(bundle)) {
        if (type !== "chunk") continue;
        for (const id of moduleIds) {
          const folder = findPackageFolder(id);
          if (folder !== undefined) folders.add(folder);
        }
      }
      const parts = [...folders].map(describePackage).sort();
      this.emitFile({ type: "asset", fileName, source: parts.join(`\n${"-".repeat(80)}\n\n`) });
    },
  };
}
