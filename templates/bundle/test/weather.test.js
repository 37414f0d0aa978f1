import assert from "node:assert/strict";
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
  const result = await session.callTool("my_tools_currentWeather", { city: "Bergen" });
  assert.equal(result.message, "Bergen: 9 degrees, rain");
  assert.deepEqual(result.structuredContent, { place: "Bergen", celsius: 9, sky: "rain" });
});

test("an unknown city is an error with a code", async () => {
  const result = await session.callTool("my_tools_currentWeather", { city: "Atlantis" });
  assert.equal(result.message, 'Unknown city "Atlantis".');
  assert.equal(result.details.code, -32001);
});
