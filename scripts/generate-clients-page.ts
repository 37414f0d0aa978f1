// Generates docs/clients.md from the records of clients. A test compares it; `npx vitest run test/install/clients-page -u`
// updates it.
import type { ClientRecord, PathTemplates } from "../src/install/clients/client.ts";
import { clients } from "../src/install/clients/index.ts";

const code = (text: string) => `\`${text}\``;
const joinPaths = (paths: PathTemplates) => paths.map(code).join(" or ");

/** The paths of a client; a path that systems share is listed once. */
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

This page lists what \`trailblaze install\` knows about each client: where the client keeps its servers, and how it writes them.
The table is generated from the records in \`src/install/clients\`, which name the source and the date of their facts. Only the
clients marked "read by the real client" below were tested with the client itself. Clients change often. If a config is in another
place, pass the file with \`--file\`.

There are ${clients.length} clients. \`~\` is the home folder, and \`./\` is the project's folder. \`\${NAME:-…}\` is the folder in the
environment variable, or else the path after \`:-\`. If there are several files, Trailblaze uses the first one that exists, or else
the first one.

| id and aliases | client | format | user's file | project's file | key of the servers | reference to a variable |
|---|---|---|---|---|---|---|
${clients.map(formatRow).join("\n")}

A dash in the last column means that the client cannot refer to environment variables. A secret value (\`--env NAME\`, or one of
the server's \`envPassthrough\`) is then omitted from the file, and the command says so.

## What is written

For the user, an entry has the absolute paths of Node, of the command and of the project's folder. It depends on no search path
and no working folder:

\`\`\`json
{
  "command": "/usr/bin/node",
  "args": ["/home/me/app/node_modules/trailblaze/dist/cli/cli.cjs", "start", "acme/jira/project-management", "--cwd", "/home/me/app"]
}
\`\`\`

With \`--scope project\`, an entry is the same on every machine:

\`\`\`json
{ "command": "node", "args": ["-e", "require('trailblaze/cli')", "trailblaze", "start", "acme/jira/project-management"] }
\`\`\`

It loads the package \`trailblaze\` that the project has installed. It does not use the command in \`node_modules/.bin\`, which any
other package can override ([why](decisions.md#entries-of-a-project-do-not-use-node_modulesbin)). The project must depend on \`trailblaze\`.

## What is kept

Only the bytes of the entry change. Comments, order, indentation, line breaks, a byte order mark, the file's mode and symbolic links
stay as they are. Trailblaze locks a file while it edits it, parses and compares the edit before it writes it, and replaces the old file
as a whole. It keeps a copy of the original file in the state folder (\`~/.local/state/trailblaze/backups\` on Linux), and output names
it. A config whose layout does not allow editing only the entry, such as \`mcp_servers = { … }\` on one line of TOML, is refused with the
entry to paste ([ClientConfigUnwritable](problems.md#clientconfigunwritable)).

Trailblaze recognizes its entries by their command lines. Keys that the client or you add to an entry, such as \`disabled\`,
\`autoApprove\` or \`timeout\`, stay on a new install. An uninstall removes the entry, a container that is empty then, and a file that
holds nothing then; anything else is as before the install, except for a line break at the end of the file. An entry that connects to a
URL has no command line: it is removed if the URL is on this machine, otherwise with \`--force\`.

Trailblaze never replaces an entry that it did not write, unless you pass \`--force\`, and does not touch malformed files: see
[ClientConfigMalformed](problems.md#clientconfigmalformed) and [ClientConfigConflict](problems.md#clientconfigconflict).

### While other programs write

Clients rewrite their configs while they run. Right before Trailblaze replaces a file, it compares it with what it read. If another
program has changed it, the edit starts over with the new content, up to five times. A half-written file is read again. A change in the
moment between the comparison and the replacement, less than a millisecond, is lost.

The lock is a folder \`FILE.lock\`, in the format of the package proper-lockfile. Clients that use this package wait for an edit, and
an edit waits for them, up to 30 seconds. A lock that was not refreshed for ten seconds is removed.

## After installing

${clients.map(formatNote).join("\n")}
`;
}
