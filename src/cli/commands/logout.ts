import { printable } from "../../problems/index.ts";
import { withSignInLock } from "../../sign-in/stored.ts";
import { defineCommand } from "../command.ts";
import { configOption } from "../options.ts";
import { findRemoteServer } from "./login.ts";

export const command = defineCommand({
  summary: "Delete what `login` stored for a remote server",
  usage: "<label|url>",
  options: configOption,
  async run(input) {
    const [name = ""] = input.positionals;
    const isUrl = /^https?:\/\//i.test(name) && URL.canParse(name);
    const url = isUrl ? new URL(name) : (await findRemoteServer(name, input)).url;
    const changed = await withSignInLock(url, (write) => write(undefined));
    const text = changed ? `Deleted the sign-in to ${url.href}` : `There is no sign-in to ${url.href}`;
    const label = isUrl ? null : name;
    return { json: { label, url: url.href, changed }, formatText: () => printable(text) };
  },
});
