import type { Schemas } from "../../api/client";
import { State, type Tone } from "../../part/State";
import { endpointsText } from "./text";

type Endpoint = Schemas["Webhook"];
type DeliveryStatus = Schemas["Delivery"]["status"];

export const DELIVERY_STATUSES: readonly DeliveryStatus[] = ["pending", "delivered", "failed", "dropped"];

const ENDPOINT_TONES: Readonly<Record<Endpoint["status"], Tone>> = {
  active: "done",
  paused: "off",
  disabled: "failed",
  unconfirmed: "waits",
};

const DELIVERY_TONES: Readonly<Record<DeliveryStatus, Tone>> = { pending: "waits", delivered: "done", failed: "failed", dropped: "failed" };

/** Whether messages are sent to an endpoint, and why not. */
export function EndpointState({ endpoint }: { endpoint: Endpoint }) {
  const isFailing = endpoint.status === "active" && endpoint.failing_since !== null;
  const tone = isFailing ? "waits" : ENDPOINT_TONES[endpoint.status];
  const reason = endpoint.disabled_reason && `: ${endpoint.disabled_reason}`;
  return (
    <State tone={tone}>
      {isFailing ? "failing" : endpoint.status}
      {reason}
    </State>
  );
}

export function DeliveryState({ status }: { status: DeliveryStatus }) {
  return <State tone={DELIVERY_TONES[status]}>{status}</State>;
}

/** An address that must agree before anything is sent, and can be asked. */
export function canBeAsked(endpoint: Endpoint): boolean {
  return endpoint.kind === "email" && (endpoint.status === "unconfirmed" || endpoint.disabled_reason === "unsubscribed");
}

/** The types of messages that an endpoint gets. */
export function eventsOf({ events }: Endpoint): string {
  return events.map((type) => (type === "*" ? endpointsText.allTypes : type)).join(", ");
}
