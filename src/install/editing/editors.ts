import type { ConfigEditor, ConfigFormatName } from "./config-format.ts";

/** The editor of a format; loaded when a file of it is met. */
export async function loadEditor(format: ConfigFormatName): Promise<ConfigEditor> {
  if (format === "toml") return (await import("./toml-editor.ts")).tomlEditor;
  if (format === "yaml") return (await import("./yaml-editor.ts")).yamlEditor;
  return (await import("./json-editor.ts")).jsonEditor;
}
