import { request } from "node:http";
import { expect, test } from "vitest";
import { createRequest, type OpenedEndpoint, openEndpoint } from "./open-endpoint.ts";

/** Sends a callback on a connection of its own; the message of the result, or the code of what went wrong on the way. */
function callOnce({ endpoint, token }: OpenedEndpoint): Promise<string> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const options = { method: "POST", agent: false, headers } as const;
    const sent = request(`${endpoint.baseUrl}/scripting/callback`, options, async (answer) => {
      let text = "";
      for await (const chunk of answer) text += chunk;
      const { result } = JSON.parse(text);
      resolve(result.success === true ? "success" : result.error_message);
    });
    sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end(JSON.stringify(createRequest()));
  });
}

test("a thousand callbacks at once, each on its own connection, are called, and the others are answered with an error", async () => {
  const release: (() => void)[] = [];
  const opened = await openEndpoint({
    // On a busy machine, 1,500 connections take their time.
    transport: { headersTimeoutMs: 60_000 },
    dispatch: () => new Promise((resolve) => release.push(() => resolve({ success: true, text: "done" }))),
  });
  let answered = 0;
  const answers = Array.from({ length: 1500 }, () => callOnce(opened).finally(() => answered++));
  await expect.poll(() => [release.length, answered], { timeout: 30_000 }).toEqual([1000, 500]);
  for (const finish of release) finish();
  const counts: Record<string, number> = {};
  for (const answer of await Promise.all(answers)) counts[answer] = (counts[answer] ?? 0) + 1;
  expect(counts).toEqual({
    success: 1000,
    "The invocation has 1000 open callbacks, which is the limit. Wait for one to end.": 500,
  });
});
