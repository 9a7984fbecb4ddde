/** Deliveries of the app's events. emulate tells the stand-in; the stand-in tells the product, with a delivery id like the
 * code host's and a signature by the code host's own library, and remembers what came of it, so that it can be asked for the
 * list and to do it again. */
import { randomUUID } from "node:crypto";

import { sign } from "@octokit/webhooks-methods";

import { json, problem } from "./answers.mjs";

export class Deliveries {
  constructor(world) {
    this.world = world;
    this.clear();
  }

  clear() {
    this.rows = [];
    this.isHeld = false;
    this.pending = new Set();
  }

  /** Take an event from emulate. */
  receive(headers, body) {
    const payload = JSON.parse(body);
    return this.send({
      guid: randomUUID(),
      event: headers["x-github-event"],
      body: body.toString(),
      payload,
    });
  }

  /** All deliveries, when those under way have ended. */
  async list() {
    await Promise.all(this.pending);
    return this.rows;
  }

  /** Deliver an event: `{guid, event, body, payload}`. While deliveries are held, it fails without being sent. */
  send(delivery) {
    const done = this.deliver(delivery).finally(() => this.pending.delete(done));
    this.pending.add(done);
    return done;
  }

  async deliver(delivery) {
    const start = Date.now();
    let status = 0;
    try {
      if (!this.isHeld) status = (await this.post(delivery)).status;
    } catch {
      status = 0;
    }
    const isDone = status >= 200 && status < 300;
    const row = {
      redelivery: false,
      ...delivery,
      id: 9_000_000_000 + this.rows.length + 1,
      status_code: status,
      status: isDone ? "OK" : status === 0 ? "failed to connect to host" : "Invalid HTTP Response",
      delivered_at: new Date(start).toISOString(),
      duration: (Date.now() - start) / 1000,
    };
    this.rows.push(row);
    return row;
  }

  async post({ guid, event, body }) {
    const { url, secret } = this.world.config.webhook;
    const headers = {
      "content-type": "application/json",
      "user-agent": "GitHub-Hookshot/1",
      "x-github-event": event,
      "x-github-delivery": guid,
      "x-hub-signature-256": await sign(secret, body),
    };
    return fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(10000) });
  }
}

function formatDelivery({ payload, ...row }) {
  return {
    id: row.id,
    guid: row.guid,
    delivered_at: row.delivered_at,
    redelivery: row.redelivery,
    duration: row.duration,
    status: row.status,
    status_code: row.status_code,
    event: row.event,
    action: payload.action ?? null,
    installation_id: payload.installation?.id ?? null,
    repository_id: payload.repository?.id ?? null,
    throttled_at: null,
  };
}

/** Newest first, with a cursor. */
async function listDeliveries(call) {
  if (!call.isApp) return problem(401, "A JSON web token could not be decoded");
  const { searchParams } = call.url;
  const size = Math.min(Number(searchParams.get("per_page") ?? 30), 100);
  const before = Number(searchParams.get("cursor")?.replace(/^v1_/, "") ?? Infinity);
  const matching = call.world.deliveries.rows.filter(
    ({ id, status_code }) =>
      id < before && (searchParams.get("status") !== "failure" || status_code < 200 || status_code >= 400),
  );
  const page = matching.reverse().slice(0, size);
  const next = `${call.world.url}/app/hook/deliveries?per_page=${size}&cursor=v1_${page.at(-1)?.id}`;
  const headers = matching.length > size ? { link: `<${next}>; rel="next"` } : {};
  return json(200, page.map(formatDelivery), headers);
}

async function findDelivery(call, id) {
  if (!call.isApp) return problem(401, "A JSON web token could not be decoded");
  const row = call.world.deliveries.rows.find((delivery) => delivery.id === Number(id));
  if (!row) return problem(404, "Not Found");
  const request = { headers: { "X-GitHub-Delivery": row.guid, "X-GitHub-Event": row.event }, payload: row.payload };
  return json(200, {
    ...formatDelivery(row),
    url: call.world.config.webhook.url,
    request,
    response: { headers: {}, payload: "" },
  });
}

async function redeliver(call, id) {
  if (!call.isApp) return problem(401, "A JSON web token could not be decoded");
  const row = call.world.deliveries.rows.find((delivery) => delivery.id === Number(id));
  if (!row) return problem(404, "Not Found");
  call.world.deliveries.send({ ...row, redelivery: true });
  return json(202, {});
}

export const DELIVERIES = [
  ["GET", /^\/app\/hook\/deliveries$/, listDeliveries],
  ["GET", /^\/app\/hook\/deliveries\/(\d+)$/, findDelivery],
  ["POST", /^\/app\/hook\/deliveries\/(\d+)\/attempts$/, redeliver],
];
