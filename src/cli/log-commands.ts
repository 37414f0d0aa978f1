/** Set by CI runners that read commands from a job's output: GitHub, Gitea and Forgejo, Azure, TeamCity. */
const runnerVariables = ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"];

/** Whether a CI runner may read commands from this process's output. */
export function isRunByRunner(env: NodeJS.ProcessEnv): boolean {
  return runnerVariables.some((name) => env[name] !== undefined && env[name] !== "" && env[name] !== "false");
}

/** `##[group]`, `##vso[task.setvariable …]`, `##teamcity[…]`: a command anywhere in a line. */
const bracketed = /(##\w*)\[/g;

/** `::add-mask::…` at the start of a line, after any white space. */
const leading = /^([^\S\n]*:):/gm;

/**
 * Escapes the character that completes each command as `\u{…}`, like unprintable characters. `before` is what
 * `beginningOfCommand` returned for the preceding text.
 */
export function disarmCommands(text: string, before = ""): string {
  const disarmed = `${before}${text}`.replace(leading, "$1\\u{003a}").replace(bracketed, "$1\\u{005b}");
  return disarmed.slice(before.length);
}

/** The end of a text that could become a command with more text; `.` replaces what precedes it on the line. */
export function beginningOfCommand(text: string): string {
  const line = text.slice(text.lastIndexOf("\n") + 1);
  if (/^\s*:?$/.test(line)) return line.trimStart();
  return `.${/#{1,2}\w{0,50}$/.exec(line)?.[0] ?? ""}`;
}
