import { failure, quote } from "../../problems/index.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";

// Each script passes on the words up to the cursor, offers the lines of the answer, and completes paths without an answer. The
// shells insert the lines as text; no script evaluates one.

// `$2` is what readline replaces, which is only the end of a word with `@`, `=` or `:`.
const bash = `# Completion of trailblaze in bash
_trailblaze() {
  local IFS=$' \\t\\n' line=\${COMP_LINE:0:COMP_POINT} current kept candidate
  local -a words
  read -r -a words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=\${words[\${#words[@]}-1]}
  kept=\${current%"$2"}
  COMPREPLY=()
  while IFS= read -r candidate; do
    candidate=\${candidate%%$'\\t'*}
    COMPREPLY+=("\${candidate#"$kept"}")
  done < <(command trailblaze __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -F _trailblaze trailblaze
`;

const zsh = `#compdef trailblaze
# Completion of trailblaze in zsh
_trailblaze() {
  local line
  local -a candidates
  while IFS= read -r line; do
    candidates+=("\${line/$'\\t'/:}")
  done < <(command trailblaze __complete -- "\${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)
  if (( \${#candidates} )); then
    _describe trailblaze candidates
  else
    _files
  fi
}
if [[ $funcstack[1] == _trailblaze ]]; then
  _trailblaze
else
  compdef _trailblaze trailblaze
fi
`;

const fish = `# Completion of trailblaze in fish
function __trailblaze_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l candidates (command trailblaze __complete -- $words[2..-1] "$current" 2>/dev/null)
    if test (count $candidates) -gt 0
        printf '%s\\n' $candidates
    else
        __fish_complete_path "$current"
    end
end
complete -c trailblaze -f -a '(__trailblaze_complete)'
`;

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };

export async function run({ positionals: [shell = ""] }: CommandInput): Promise<CommandAnswer> {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (script === undefined) {
    const hint = `Pass one of ${Object.keys(scripts).join(", ")}.`;
    throw failure("InvalidArguments", { reason: `Unknown shell ${quote(shell)}`, hint });
  }
  return { json: { shell, script }, formatText: () => script, problems: [], isDocument: true };
}
