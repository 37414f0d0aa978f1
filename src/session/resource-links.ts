import { isRecord } from "../data/parse-json.ts";
import type { ContentBlock } from "../runtime/tool-result.ts";

/** How many links are remembered, of those that results had last. */
const mostLinks = 10_000;
const longestUri = 8192;

/** Who made the links in the results of a session: the label of a server, or the npm name of a pack. */
export interface LinkMaker {
  server?: string;
  pack?: string | undefined;
}

/** The makers of the links that results had, by URI: a link need not be listed. */
export class ResourceLinks {
  readonly #makers = new Map<string, LinkMaker>();

  /** Notes the `resource_link`s of a result. */
  note(content: readonly ContentBlock[], maker: LinkMaker): void {
    for (const block of content) {
      const { type, uri } = isRecord(block) ? (block as Record<string, unknown>) : {};
      if (type !== "resource_link" || typeof uri !== "string" || uri.length > longestUri) continue;
      this.#makers.delete(uri);
      this.#makers.set(uri, maker);
      const [oldest] = this.#makers.keys();
      if (oldest !== undefined && this.#makers.size > mostLinks) this.#makers.delete(oldest);
    }
  }

  /** The maker of the last link with this URI. */
  makerOf(uri: string): LinkMaker | undefined {
    return this.#makers.get(uri);
  }
}
