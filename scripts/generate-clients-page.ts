// Makes docs/clients.md from the records of clients. A test compares it; `npx vitest run test/install/clients-page -u`
// writes it.
import type { ClientRecord, PathTemplates } from "../src/install/clients/client.ts";
import { clients } from "../src/install/clients/index.ts";

const code = (text: string) => `\`${text}\``;
const joinPaths = (paths: PathTemplates) => paths.map(code).join(" or ");

/** The paths of a client, those that systems share said once. */
function describeUserFile({ user }: ClientRecord): string {
  const systems = { Linux: user.linux, macOS: user.darwin, Windows: user.win32 };
  const byPath = new Map<string, string[]>();
  for (const [system, paths] of Object.entries(systems)) {
    if (paths === undefined) continue;
    const written = joinPaths(paths);
    byPath.set(written, [...(byPath.get(written) ?? []), system]);
  }
  if (byPath.size === 0) return "–";
  const [only] = byPath;
  if (only !== undefined && byPath.size === 1 && only[1].length === 3) return only[0];
  return [...byPath].map(([paths, names]) => `${names.join(", ")}: ${paths}`).join("<br>");
}

function describeContainer({ container, newerContainer, isList }: ClientRecord): string {
  const write = (keys: readonly string[]) =>
    code(keys.map((key) => (key.includes(".") ? `"${key}"` : key)).join("."));
  const written = isList ? code(`[[${container.join(".")}]]`) : write(container);
  return newerContainer === undefined ? written : `${written} or ${write(newerContainer)}`;
}

function describeSecrets({ reference, shape }: ClientRecord): string {
  if (reference !== undefined) return code(reference);
  return shape.passedNames === undefined ? "–" : `by name, in ${code(shape.passedNames)}`;
}

function formatRow(client: ClientRecord): string {
  const { id, name, aliases, format, project } = client;
  const names = [code(id), ...aliases.map(code)].join(" ");
  const cells = [
    names,
    name,
    format,
    describeUserFile(client),
    project === undefined ? "–" : joinPaths(project),
    describeContainer(client),
    describeSecrets(client),
  ];
  return `| ${cells.join(" | ")} |`;
}

function formatNote({ id, afterwards, approval, source, checked }: ClientRecord): string {
  return `- **${id}**: ${[afterwards, approval].filter((text) => text !== undefined).join(" ")} Source, ${checked}: ${source}.`;
}

/** The page about clients. */
export function generateClientsPage(): string {
  return `# MCP clients

What \`trailblaze install\` knows of each client: where it keeps its servers, and how it writes them. The table is made from
the records in \`src/install/clients\`, each of which says where it is from and when the facts were gathered. Most were not tried
on the client itself: those that were say so. Clients change often, and \`--file\` names a file that is elsewhere.

${clients.length} clients. \`~\` is the home folder, \`./\` the project's; \`\${NAME:-…}\` is the folder that the environment names, else
what follows. Of several files the first that is there is used, else the first.

| id and aliases | client | format | user's file | project's file | servers are in | a variable's value |
|---|---|---|---|---|---|---|
${clients.map(formatRow).join("\n")}

Where the last column has a dash, the client has no way to refer to a variable of the environment. A value that is secret
(\`--env NAME\`, or one of the server's \`envPassthrough\`) is then left out of the file, and the command says so.

## What is written

For yourself, the absolute paths of Node and of the command, and the project's folder, so that the entry depends on no search
path and no working directory:

\`\`\`json
{
  "command": "/usr/bin/node",
  "args": ["/home/me/app/node_modules/trailblaze/dist/cli/cli.cjs", "start", "acme/jira/project-management", "--cwd", "/home/me/app"]
}
\`\`\`

With \`--scope project\`, what is the same on every machine:

\`\`\`json
{ "command": "node", "args": ["-e", "require('trailblaze/cli')", "trailblaze", "start", "acme/jira/project-management"] }
\`\`\`

It loads the package \`trailblaze\` that the project has installed, and not the command in \`node_modules/.bin\`, which any other
package can take over ([why](decisions/0014-entries-bypass-bin.md)). The project needs \`trailblaze\` among its dependencies.

## What is kept

Only the bytes of the entry change: comments, order, indentation, line ends, a byte order mark, the file's mode and symbolic
links stay, and uninstalling gives back the file as it was. A file is locked while it is edited, the edit is parsed and
compared before it is written, and the new file takes the old one's place as a whole. A copy of the file as it was lies in the
state folder (\`~/.local/state/trailblaze/backups\` on Linux), beside \`installs.json\`, which remembers what is ours.

Values stay too. In YAML a block scalar at the end of a file without a final line break would get a line break from anything
that follows it, so the entry is put before it.

### While other programs write

Clients rewrite their configs while they run. An edit keeps what they write:

- Right before the new file takes the old one's place, the file is compared with what was read. If another program changed it,
  the edit starts over with the new content. If the file keeps changing for 10 seconds, the edit ends with
  [ClientConfigUnwritable](problems/ClientConfigUnwritable.md), and the file is as the other program left it.
- What another program writes into the old file while it is being replaced is read from there, and the edit is made again on top
  of it. Windows cannot do this.
- A new file never replaces one that appeared in the meantime, and a file is removed only if it is still as it was read.
- A file that is half written is read again, for up to a second.
- If a program that was seen writing the file overwrites the new entry with what it had read before, the entry is written again,
  for as long.

One gap remains: Node cannot compare and replace a file in one step. If another program moves its own file there within the last
20 to 100 microseconds, that one change is lost. The edit looks for files that are about to be moved there, and waits for them. In
tests on an overloaded Linux machine, some 2,000 installs next to a program that wrote every 25 ms lost one of its changes; next to
a program that wrote every 4 ms they lost one change in 7,000.

The lock is a folder \`FILE.lock\`, as the package proper-lockfile makes it. Clients that use it wait for an edit, and an edit waits
for them: up to 30 seconds for a running \`trailblaze\`, and 2 seconds for a lock whose owner is unknown; after that the edit goes on
without it. The lock of a \`trailblaze\` that was killed is removed at once.

An entry that somebody else wrote is never replaced without \`--force\`, and comes back when the server is uninstalled. One
that was edited since is kept. A file that is broken is left alone: see
[ClientConfigMalformed](problems/ClientConfigMalformed.md), [ClientConfigConflict](problems/ClientConfigConflict.md) and
[ClientConfigModified](problems/ClientConfigModified.md).

## After installing

${clients.map(formatNote).join("\n")}
`;
}
