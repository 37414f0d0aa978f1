import { readConfig } from "../../config/read-config.ts";
import { findProject } from "../../discovery/project.ts";
import { inspectionPort as port } from "../../files/node-inspection-port.ts";
import { failure, printable, quote } from "../../problems/index.ts";
import { unknownName } from "../../qualified-names/nearest-names.ts";
import { planRemoteServer } from "../../runtime/server-launches.ts";
import { login } from "../../sign-in/login.ts";
import { expiryOf, scopesOf, withSignInLock } from "../../sign-in/stored.ts";
import { withAsk } from "../ask.ts";
import { type CommandInput, defineCommand } from "../command.ts";
import { catchSignals } from "../interruption.ts";
import { configOption, flag, integer, texts } from "../options.ts";
import { output } from "../output.ts";

/** A remote server of the config that can be signed in to. Throws `ServerNotFound` or `InvalidArguments`. */
async function findRemoteServer(label: string, { cwd, options }: CommandInput<typeof configOption>) {
  const { directory } = findProject(port, cwd);
  const config = await readConfig(port, { directory, config: options.config, cwd });
  const labels = config.subprocessServers.map(({ name }) => name);
  const server = config.subprocessServers[labels.indexOf(label)];
  if (server === undefined) throw unknownName("ServerNotFound", label, labels);
  const invalid = (reason: string) => failure("InvalidArguments", { reason: `${quote(label)} ${reason}` });
  if (server.url === undefined) throw invalid("is not a remote server: it has no `url`");
  const plan = planRemoteServer(server, config);
  if (plan.fault !== undefined) throw plan.fault;
  const { oauth } = plan;
  if (oauth === undefined) throw invalid("has an Authorization header of its own in the config");
  return { ...plan, oauth };
}

export const command = defineCommand({
  summary: "Sign in to a remote server of the config, in the browser",
  usage: "<label>",
  options: {
    "no-browser": flag("Open and listen nowhere, and read the URL of the redirect from stdin"),
    scope: texts("SCOPES", "Ask for these scopes, separated by spaces (repeatable)"),
    timeout: integer("SECONDS", 1, "How long to wait for the answer (300 by default)"),
    ...configOption,
  },
  async run(input) {
    const { positionals, options } = input;
    const [label = ""] = positionals;
    const server = await findRemoteServer(label, input);
    const asked = options.scope?.flatMap(scopesOf) ?? [];
    const scopes = asked.length > 0 ? asked : server.oauth.scopes;
    const signal = await catchSignals(input);
    const record = await login(
      { ...server, oauth: { ...server.oauth, scopes } },
      {
        timeoutMs: (options.timeout ?? 300) * 1000,
        signal,
        show: (address) =>
          output.note(`Open this URL to sign in to ${printable(label)}:\n${printable(address)}`),
        readPasted: options["no-browser"]
          ? () => withAsk((ask) => ask("Paste the URL to which the browser was sent:"), signal)
          : undefined,
      },
    );
    const { issuer = null, tokens } = record ?? {};
    const granted = scopesOf(tokens?.scope);
    const expiresAt = tokens === undefined ? null : expiryOf(tokens);
    const until = expiresAt === null ? "" : ` until ${expiresAt}`;
    const what = `${issuer} granted ${granted.join(" ") || "no scopes"}${until}`;
    const text = issuer === null ? `${label} needs no sign-in` : `Signed in to ${label}: ${what}`;
    const json = { label, url: server.url.href, issuer, scopes: granted, expiresAt };
    return { json, formatText: () => printable(text) };
  },
});

export const logout = defineCommand({
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
