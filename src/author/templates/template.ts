/** The templates of `trailblaze init`. */
export const templateNames = ["data", "typescript", "server", "composed", "bundle"] as const;
export type TemplateName = (typeof templateNames)[number];

/** What a template is filled in with. */
export interface TemplateValues {
  /** The npm name, which npm takes. */
  name: string;
  /** What the advertised names of tools begin with, without the `_` after it. */
  prefix: string;
  /** The version of this host. */
  hostVersion: string;
}

/** Contents by path, with `/`, in the order in which people should read them. */
export type TemplateFiles = Readonly<Record<string, string>>;

export interface Template {
  /** One line for people who choose. */
  summary: string;
  /** Commands that come before the pack can be tested. */
  preparation: readonly string[];
  /** Command that shows the pack at work. */
  trial(values: TemplateValues): string;
  files(values: TemplateValues): TemplateFiles;
}
