import { commonFiles, formatManifest } from "./common-files.ts";
import { formatModeline, type Template } from "./template.ts";

const about = {
  summary: "an Mcp.Tools bundle that translates calls and results, and a server for it",
  preparation: [],
  trial: ({ prefix }) => `npx trailblaze call ${prefix}_currentWeather city=Lisbon`,
} satisfies Omit<Template, "files">;

const formatBundle = (prefix: string): string => `${formatModeline("toolset")}kind: Mcp.Tools
metadata: { name: weather }
entries:
  - name: ${prefix}_currentWeather
    description: Tell what the weather of a city is now.
    argumentsSchema:
      type: object
      properties:
        city: { type: string, description: Name of the city. }
      required: [city]
    annotations: { readOnlyHint: true }
    handler: ./lib/weather.js#currentWeather
    inputs:
      place: \${{ request.arguments.city }}
    result:
      content:
        - type: text
          text: "\${{ result.place }}: \${{ result.celsius }} degrees, \${{ result.sky }}"
      structuredContent: \${{ result }}
    catches:
      - code: UNKNOWN_CITY
        error:
          code: -32001
          message: \${{ error.message }}
`;

const server = `${formatModeline("server")}kind: Mcp.StdioServer
metadata: { name: weatherDesk }
instructions: Ask for a city by its English name.
tools: [weather]
`;

const code = `const stations = new Map([
  ["Lisbon", { celsius: 21, sky: "sunny" }],
  ["Bergen", { celsius: 9, sky: "rain" }],
]);

export function currentWeather({ place }) {
  const weather = stations.get(place);
  if (weather === undefined) {
    throw Object.assign(new Error(\`Unknown city "\${place}".\`), { code: "UNKNOWN_CITY" });
  }
  return { place, ...weather };
}
`;

const formatTest = (prefix: string): string => `import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openSession } from "trailblaze/session";

// A session runs the expressions of the bundle too.
let session;
before(async () => {
  session = await openSession({ cwd: join(import.meta.dirname, "..") });
});
after(() => session?.close());

test("the weather of a city is told as text and as data", async () => {
  const result = await session.callTool("${prefix}_currentWeather", { city: "Bergen" });
  assert.equal(result.message, "Bergen: 9 degrees, rain");
  assert.deepEqual(result.structuredContent, { place: "Bergen", celsius: 9, sky: "rain" });
});

test("an unknown city is an error with a code", async () => {
  const result = await session.callTool("${prefix}_currentWeather", { city: "Atlantis" });
  assert.equal(result.message, 'Unknown city "Atlantis".');
  assert.equal(result.details.code, -32001);
});
`;

/** A toolset as a document, and a server as a document that serves it. */
export const bundleTemplate: Template = {
  ...about,
  files: (values) => ({
    "package.json": formatManifest(values, {
      description: "Reports the weather of a few cities.",
      files: ["lib", "trailblaze"],
      trailblaze: {
        servers: [["weatherDesk", "The weather over stdio"]],
        toolsets: [
          { name: "weather", description: "The weather", tools: [`${values.prefix}_currentWeather`] },
        ],
      },
    }),
    "trailblaze/servers/weatherDesk.yaml": server,
    "trailblaze/toolsets/weather.yaml": formatBundle(values.prefix),
    "lib/weather.js": code,
    "test/weather.test.js": formatTest(values.prefix),
    ...commonFiles(about, values, {
      about: `A Trailblaze pack with a bundle of tools, \`trailblaze/toolsets/weather.yaml\`. Its entries translate calls into
arguments of \`lib/weather.js\`, and results and errors into answers.`,
    }),
  }),
};
