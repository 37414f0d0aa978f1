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

export interface Template {
  /** One line for users who choose a template. */
  summary: string;
  /** Commands between `npm install` and the first test. */
  preparation: readonly string[];
  /** A command that tries the pack. */
  trial(values: TemplateValues): string;
  files(values: TemplateValues): TemplateFiles;
}
