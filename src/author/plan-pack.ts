import { failure, quote } from "../problems/index.ts";
import { findNameFault, suggestToolPrefix } from "./new-package-name.ts";
import { bundleTemplate } from "./templates/bundle-template.ts";
import { composedTemplate } from "./templates/composed-template.ts";
import { dataTemplate } from "./templates/data-template.ts";
import { serverTemplate } from "./templates/server-template.ts";
import { type Template, type TemplateName, templateNames } from "./templates/template.ts";
import { typescriptTemplate } from "./templates/typescript-template.ts";

/** Every template by its name. */
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
  /** Commands for its author, in order. */
  nextSteps: readonly string[];
}

/** The template of a name; throws `InvalidArguments` where there is none. */
export function readTemplateName(name: string): TemplateName {
  const known = templateNames.find((one) => one === name);
  if (known !== undefined) return known;
  const hint = `Templates are ${templateNames.join(", ")}.`;
  throw failure("InvalidArguments", { reason: `${quote(name)} is no template`, hint });
}

/** The name itself; throws `InvalidArguments` for one that npm refuses. */
export function readNewName(name: string): string {
  const fault = findNameFault(name);
  if (fault === undefined) return name;
  const hint = "A name is written my-tools or @scope/my-tools.";
  throw failure("InvalidArguments", { reason: `npm takes no package ${quote(name)}: it ${fault}`, hint });
}

/** Everything that a new pack will consist of. Pure. Throws `InvalidArguments`. */
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
    nextSteps: [...preparation, "npm test", "npx trailblaze validate --strict", trial(values)],
  };
}
