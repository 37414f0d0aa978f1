import { failure, quote } from "../problems/index.ts";
import { findNameFault, suggestToolPrefix } from "./new-package-name.ts";
import { bundleTemplate } from "./templates/bundle-template.ts";
import { composedTemplate } from "./templates/composed-template.ts";
import { dataTemplate } from "./templates/data-template.ts";
import { serverTemplate } from "./templates/server-template.ts";
import { type Template, type TemplateName, templateNames } from "./templates/template.ts";
import { typescriptTemplate } from "./templates/typescript-template.ts";

/** All templates by name. */
export const templates: Readonly<Record<TemplateName, Template>> = {
  data: dataTemplate,
  typescript: typescriptTemplate,
  server: serverTemplate,
  composed: composedTemplate,
  bundle: bundleTemplate,
};

export interface PackPlan {
  name: string;
  template: TemplateName;
  /** Paths in the pack's folder, with `/`. */
  files: readonly { path: string; text: string }[];
  /** Commands for the author, in order. */
  nextSteps: readonly string[];
}

/** The name of a template. Throws `InvalidArguments` for an unknown one. */
export function readTemplateName(name: string): TemplateName {
  const known = templateNames.find((one) => one === name);
  if (known !== undefined) return known;
  const hint = `Use one of ${templateNames.join(", ")}.`;
  throw failure("InvalidArguments", { reason: `Unknown template ${quote(name)}`, hint });
}

/** The name itself. Throws `InvalidArguments` if npm does not accept it. */
export function readNewName(name: string): string {
  const fault = findNameFault(name);
  if (fault === undefined) return name;
  const hint = "Use a name such as my-tools or @scope/my-tools.";
  throw failure("InvalidArguments", {
    reason: `${quote(name)} is not a valid name for a new package: it ${fault}`,
    hint,
  });
}

/** The files of a new pack. Pure. Throws `InvalidArguments`. */
export function planPack(options: { name: string; template: string; hostVersion: string }): PackPlan {
  const { hostVersion } = options;
  const name = readNewName(options.name);
  const template = readTemplateName(options.template);
  const values = { name, prefix: suggestToolPrefix(name), hostVersion };
  const { files, preparation, trial } = templates[template];
  return {
    name,
    template,
    files: Object.entries(files(values)).map(([path, text]) => ({ path, text })),
    nextSteps: ["npm install", ...preparation, "npm test", "npx trailblaze validate --strict", trial(values)],
  };
}
