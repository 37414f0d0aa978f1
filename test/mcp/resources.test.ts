import { Client as ModernClient } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { SessionGateway } from "../../src/serve/session-gateway.ts";
import { makeProject, openForTest } from "../session/support/session.ts";
import { erasOf } from "./modern/modern-served.ts";

/** A session with the resources of one scheme, and watches whose changes the test makes. */
async function createResources() {
  const watched = new Map<string, () => void>();
  const session = await openForTest(makeProject({}));
  const gateway = new SessionGateway(Promise.resolve(session), () => {});
  gateway.findResource = (_client, uri) =>
    uri === "test://none" ? undefined : async () => ({ contents: [], isStatic: true });
  gateway.watches.follow = (uris, changed) => {
    for (const uri of uris) watched.set(uri, () => changed(uri));
    return () => uris.forEach((uri) => void watched.delete(uri));
  };
  return { gateway, watched };
}

const info = { name: "test", version: "1.0.0" };

/** A client of an era, and the URIs that it has heard of. `serve/resources.test.ts` has them over HTTP. */
async function connect(gateway: SessionGateway, era: "legacy" | "modern") {
  const client =
    era === "legacy" ? new Client(info) : new ModernClient(info, { versionNegotiation: { mode: "auto" } });
  onTestFinished(() => client.close());
  const heard: string[] = [];
  if (client instanceof Client)
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void heard.push(params.uri),
    );
  else
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void heard.push(params.uri),
    );
  const { connection } = erasOf(gateway);
  const [near, far] = InMemoryTransport.createLinkedPair();
  const running = connection();
  await running.connect(far as never);
  await client.connect(near as never);
  return { client, heard };
}

describe("subscriptions to resources", () => {
  test.each(["legacy", "modern"] as const)(
    "a %s client hears of changes until it unsubscribes, and its watches end with its connection",
    async (era) => {
      const { gateway, watched } = await createResources();
      const { client, heard } = await connect(gateway, era);
      const [item, other] = ["test://item/1", "test://text"];
      let unsubscribe: () => Promise<unknown>;
      if (client instanceof Client) {
        for (const uri of [item, other]) await client.subscribeResource({ uri });
        unsubscribe = () => client.unsubscribeResource({ uri: item });
        const none = client.subscribeResource({ uri: "test://none" });
        await expect(none).rejects.toMatchObject({ code: -32002 });
      } else {
        const subscription = await client.listen({ resourceSubscriptions: [item] });
        expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [item] });
        await client.listen({ resourceSubscriptions: [other] });
        unsubscribe = () => subscription.close();
      }
      watched.get(item)?.();
      await expect.poll(() => heard).toEqual([item]);
      await unsubscribe();
      await expect.poll(() => [...watched.keys()]).toEqual([other]);
      await client.close();
      await expect.poll(() => watched.size).toBe(0);
    },
  );

  test("of requests that a legacy client makes at once, at most 1000 subscribe", async () => {
    const { gateway, watched } = await createResources();
    const { client } = await connect(gateway, "legacy");
    if (!(client instanceof Client)) throw new Error("This is no legacy client.");
    const asked = Array.from({ length: 1002 }, (_, index) =>
      client.subscribeResource({ uri: `test://item/${index}` }),
    );
    const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === "rejected");
    expect(refused).toMatchObject([{ reason: { code: -32602 } }, { reason: { code: -32602 } }]);
    expect(watched.size).toBe(1000);
  });
});
