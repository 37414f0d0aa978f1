import type { Kind } from "../../kinds.ts";

/** The templates of `trailblaze init`. */
export const templateNames = ["data", "typescript", "server", "composed", "bundle"] as const;
export type TemplateName = (typeof templateNames)[number];

/** The values that a template is filled with. */
export interface TemplateValues {
  /** A valid npm name. */
  name: string;
  /** The prefix of the advertised names of tools, without the trailing `_`. */
  prefix: string;
  /** The version of this host. */
  hostVersion: string;
}

/** Contents by path, with `/`, in reading order. */
export type TemplateFiles = Readonly<Record<string, string>>;

/**
 * The first line of a YAML definition, which refers editors to its schema. Editors resolve the path from the file, and a pack
 * has `trailblaze` in its devDependencies.
 */
export const formatModeline = (kind: Kind): string => `# yaml-language-server: $schema=${schemaPath(kind)}\n`;

/** The path of a kind's schema, relative to the kind's folder of definitions. */
export const schemaPath = (kind: Kind): string => `../../node_modules/trailblaze/schemas/${kind}.json`;

export interface Template {
  /** One line for users who choose a template. */
  summary: string;
  /** Commands between `npm install` and the first test. */
  preparation: readonly string[];
  /** A command that tries the pack. */
  trial(values: TemplateValues): string;
  files(values: TemplateValues): TemplateFiles;
}
