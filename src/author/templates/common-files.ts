import type { Template, TemplateFiles, TemplateValues } from "./template.ts";

interface ManifestParts {
  description: string;
  /** The files that npm publishes besides package.json and the README. */
  files: readonly string[];
  trailblaze: object;
  scripts?: Readonly<Record<string, string>>;
  dependencies?: Readonly<Record<string, string>>;
  devDependencies?: Readonly<Record<string, string>>;
}

const writeDocs = "trailblaze docs --write README.md";
/** What a new pack checks before it is published. */
export const beforePublishing = `trailblaze validate --strict && ${writeDocs} --check`;

/** package.json of a new pack. */
export function formatManifest({ name, hostVersion }: TemplateValues, parts: ManifestParts): string {
  const { description, files, trailblaze, scripts = {}, dependencies, devDependencies = {} } = parts;
  const manifest = {
    name,
    version: "0.1.0",
    description,
    keywords: ["trailblaze-extension", "mcp"],
    license: "MIT",
    type: "module",
    engines: { node: "^20.19.0 || >=22.12.0", trailblaze: `^${hostVersion}` },
    files,
    scripts: { test: "node --test", docs: writeDocs, prepublishOnly: beforePublishing, ...scripts },
    trailblaze,
    dependencies,
    devDependencies: { trailblaze: `^${hostVersion}`, ...devDependencies },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** The files that every new pack has. `about`: a description of the pack, as Markdown. */
export function commonFiles(
  template: Omit<Template, "files">,
  values: TemplateValues,
  { about, ignored = [] }: { about: string; ignored?: readonly string[] },
): TemplateFiles {
  const commands = [
    "npm install",
    ...template.preparation,
    "npm test",
    "npx trailblaze validate --strict",
    template.trial(values),
    "npx trailblaze dev",
  ];
  const readme = `# ${values.name}

${about}

## Work on it

\`\`\`sh
${commands.join("\n")}
\`\`\`

\`trailblaze dev\` watches the folder, validates the pack after every change and keeps a session open. After you change a
definition, \`npm run docs\` updates the rest of this page. \`npm publish\` validates the pack and this page first.

<!-- trailblaze:docs -->
<!-- /trailblaze:docs -->
`;
  return { "README.md": readme, ".gitignore": `${["node_modules/", ...ignored, "*.tgz"].join("\n")}\n` };
}
