/** Set by the runners of CI jobs that take lines of a job's output as commands: GitHub, Gitea and Forgejo, Azure, TeamCity. */
const runnerVariables = ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"];

/** Whether a program that takes commands out of text may read what this process prints. */
export function isRunByRunner(env: NodeJS.ProcessEnv): boolean {
  return runnerVariables.some((name) => env[name] !== undefined && env[name] !== "" && env[name] !== "false");
}

/** `##[group]`, `##vso[task.setvariable …]`, `##teamcity[…]`: a command wherever in a line it is. */
const bracketed = /(##\w*)\[/g;

/** `::add-mask::…` at the start of a line, white space apart. */
const leading = /^([^\S\n]*:):/gm;

/**
 * The text without anything that a runner takes as a command: the character that completes it is written as `\u{…}`,
 * as characters that do not print are. `before` is what `beginningOfCommand` gave for the text before.
 */
export function disarmCommands(text: string, before = ""): string {
  const disarmed = `${before}${text}`.replace(leading, "$1\\u{003a}").replace(bracketed, "$1\\u{005b}");
  return disarmed.slice(before.length);
}

/** What may go on to be a command at the end of a text; `.` stands for a line that is past its start. */
export function beginningOfCommand(text: string): string {
  const line = text.slice(text.lastIndexOf("\n") + 1);
  if (/^\s*:?$/.test(line)) return line.trimStart();
  return `.${/#{1,2}\w{0,50}$/.exec(line)?.[0] ?? ""}`;
}
