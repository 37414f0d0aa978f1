import { type Approval, type ApprovalPlan, approve, diffLock } from "../../approval/approve.ts";
import { failure, listOf, printable } from "../../problems/index.ts";
import { countOf } from "../../problems/text.ts";
import { askForYes, requireTerminal } from "../ask.ts";
import { type CommandAnswer, type CommandInput, defineCommand } from "../command.ts";
import { catchSignals } from "../interruption.ts";
import { configOption, flag } from "../options.ts";
import { output } from "../output.ts";
import { readSessionOptions } from "../session/session-command.ts";

const options = {
  yes: { ...flag("Approve what is named without asking"), short: "y" },
  all: flag("Approve everything that is not denied"),
  "dry-run": flag("Show the changes without making them"),
  static: flag("Start no servers; their tools stay unapproved"),
  deny: flag("Deny what is named instead, until it is approved by name"),
  ...configOption,
};

type Input = CommandInput<typeof options>;

export const command = defineCommand({
  summary: "Record in trailblaze.lock what sessions may use",
  usage: "[pack|server|publisher/pack/item...]",
  options,
  run,
});

function formatResult({ result, plan }: Approval, isDryRun: boolean): string {
  const { approved, denied, pruned, changed } = result;
  const parts = [
    [isDryRun ? "Would approve" : "Approved", approved],
    [isDryRun ? "Would deny" : "Denied", denied],
    [isDryRun ? "Would remove" : "Removed", pruned],
  ] as const;
  const lines = parts.flatMap(([verb, names]) => {
    return names.length === 0 ? [] : [`${verb} ${listOf(names, "and")}.`];
  });
  const left = plan.countUnapproved();
  if (left > 0)
    lines.push(
      `${countOf(left, "item")} ${left === 1 ? "is" : "are"} still not approved: run \`trailblaze diff\`.`,
    );
  const nothing = changed ? "Nothing to approve: trailblaze.lock is empty." : "Nothing to approve.";
  return (lines.length === 0 ? [nothing] : lines).map((line) => printable(line)).join("\n");
}

async function run(input: Input): Promise<CommandAnswer> {
  const { positionals, options } = input;
  const isDryRun = options["dry-run"];
  const asks = !options.yes && !isDryRun;
  if (asks) requireTerminal("approval", "Pass --yes to approve what is named, or everything with --all.");
  else if (positionals.length === 0 && !options.all) {
    const hint = "Name packs, servers or items, or pass --all.";
    throw failure("InvalidArguments", { reason: "Nothing is named to approve", hint });
  }
  const signal = await catchSignals(input, true);
  const settings = {
    ...readSessionOptions(input),
    signal,
    // On a terminal, everything is shown.
    all: options.all || positionals.length === 0,
    static: options.static,
    deny: options.deny,
    isDryRun,
  };
  const agree = async (plan: ApprovalPlan) => {
    if (plan.text !== "") output.note(plan.text);
    const isAgreed = !asks || plan.text === "" || (await askForYes("Write this to trailblaze.lock?", signal));
    signal.throwIfAborted();
    return isAgreed;
  };
  const approval = await approve(positionals, settings, agree);
  const { result, plan, isDeclined } = approval;
  const { problems } = plan;
  return {
    json: problems.length === 0 ? result : { ...result, problems },
    formatText: () => formatResult(approval, isDryRun),
    problems,
    exitCode: isDeclined || plan.failedServers.length > 0 ? 1 : 0,
  };
}

export const diff = defineCommand({
  summary: "Show how packs and servers differ from what trailblaze.lock approves",
  usage: "[pack|server...]",
  options: {
    static: flag("Start no servers; their tools are not compared"),
    ...configOption,
  },
  async run(input) {
    const signal = await catchSignals(input, true);
    const { failedServers, ...difference } = await diffLock({
      ...readSessionOptions(input),
      signal,
      targets: input.positionals,
      static: input.options.static,
    });
    const { inSync, entries, problems } = difference;
    return {
      json: difference,
      formatText: () =>
        inSync
          ? "The installation does not differ from trailblaze.lock."
          : entries.map(({ diff }) => diff).join("\n"),
      problems,
      // Broken items of packs are no difference.
      exitCode: inSync && failedServers.length === 0 ? 0 : 1,
    };
  },
});
