import { failure, printable } from "../../problems/index.ts";
import type { CommandAnswer } from "../command.ts";
import { abbreviateHome, wrap } from "../layout.ts";
import { withSession } from "../session/session-command.ts";
import type { Input } from "./install.ts";

/** Copies skills into a client, or removes the copies. */
export async function runSkillsCommand(isInstall: boolean, input: Input): Promise<CommandAnswer> {
  const { options, cwd, positionals } = input;
  const [client, ...names] = positionals;
  if (client === undefined) throw failure("InvalidArguments", { reason: "A client is required" });
  const { changeCopies } = await import("../../install/skill-copies.ts");
  const place = { cwd, scope: options.scope, isDryRun: options["dry-run"] };
  const result = isInstall
    ? await withSession(input, (session) => changeCopies(client, names, session, place))
    : await changeCopies(client, names, undefined, place);
  const { folder, installed, removed, kept, problems } = result;
  const would = place.isDryRun ? "Would be " : "";
  const lists = Object.entries({ [`${would}installed`]: installed, [`${would}removed`]: removed, kept });
  const lines = lists.flatMap(([what, list]) => (list.length === 0 ? [] : `${what}: ${list.join(", ")}`));
  return {
    json: result,
    formatText: ({ width }) =>
      [`Skills in ${abbreviateHome(folder)}`, ...(lines.length === 0 ? ["None."] : lines)]
        .map((line) => wrap(printable(line[0]?.toUpperCase() + line.slice(1)), width, 2))
        .join("\n"),
    problems,
  };
}
