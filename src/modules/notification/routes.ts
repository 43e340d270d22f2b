// The way from a message to its channels on this server: rules, labels and destinations as they are now.

import { DRILL_SERVICE } from "../../core/protocol/own-telemetry.ts";
import type { Labels } from "../../domain/alerting/label-matcher.ts";
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import { type RoutedChannel, routedChannels } from "../../domain/notification/alert-channels.ts";
import type { AlertMessage } from "../../domain/notification/alert-message.ts";
import type { Notifier } from "../../domain/notification/channel.ts";
import type { MessageFacts } from "../../domain/notification/decided-messages.ts";
import { type Destination, isAnyConfigured, resolveChannel } from "../../domain/notification/destinations.ts";
import { type Route, type RoutingSubject, routeOf } from "../../domain/notification/routing-rule.ts";
import type { LabelBook } from "../labels/label-book.ts";
import type { RoutingBook, RoutingSettings } from "./routing-book.ts";

/** Settings of notification. */
export interface NotificationOptions {
  readonly routing: RoutingSettings;
  /** PUBLIC_URL without a slash at its end. */
  readonly publicUrl: string | null;
  /** Warnings for the operator about the settings. */
  readonly hints: readonly string[];
}

/** Options from the settings of notifiers, without secrets: these do not cross to the coordinator's thread. */
export function notificationOptions(settings: RoutingSettings & Omit<NotificationOptions, "routing">): NotificationOptions {
  const { destinations, defaultChannels, publicUrl, hints } = settings;
  return { routing: { destinations, defaultChannels }, publicUrl, hints };
}

/** Labels of services that rules know. */
const SERVICE_LABELS = ["team", "owner"] as const;

export interface RoutedMessage {
  readonly ruleId: string | null;
  readonly channels: readonly RoutedChannel[];
}

export class Routes {
  readonly #book: RoutingBook;
  readonly #labels: LabelBook;
  readonly #publicUrl: string | null;
  /** Channels that somebody has chosen for a drill under way, by its tenant and environment: at most one a tenant. */
  readonly #drills = new Map<string, readonly string[]>();

  constructor(book: RoutingBook, labels: LabelBook, publicUrl: string | null) {
    this.#book = book;
    this.#labels = labels;
    this.#publicUrl = publicUrl;
  }

  get isAnyConfigured(): boolean {
    return isAnyConfigured(this.#book.destinations);
  }

  facts({ state }: Alert): MessageFacts {
    const { tenant, serviceId } = state.key;
    return { team: this.#labels.inForce(tenant, serviceId, "team")?.value ?? null, publicUrl: this.#publicUrl };
  }

  /** Attributes that rules match: labels of the service go before attributes of the same name. */
  subject(tenant: string, subject: RoutingSubject): RoutingSubject {
    const labels: Record<string, string> = { ...subject.labels };
    for (const name of SERVICE_LABELS) {
      const label = this.#labels.inForce(tenant, subject.serviceId, name);
      if (label !== undefined) labels[name] = label.value;
    }
    return { ...subject, labels };
  }

  /** The rule that a subject comes to, and where its channels lead. */
  route(tenant: string, subject: RoutingSubject): Route & { readonly channels: readonly RoutedChannel[] } {
    const { destinations } = this.#book;
    const route = routeOf(this.#book.rulesOf(tenant), this.subject(tenant, subject));
    const channels = route.rule?.channels ?? [];
    return { ...route, channels: routedChannels(destinations, tenant, channels, this.#book.catchAllOf(tenant).channels) };
  }

  /** Where a page goes; nowhere while nothing is configured. */
  of({ tenant, serviceId, severity, source, environment }: AlertMessage, labels: Labels): RoutedMessage {
    if (!this.isAnyConfigured) return { ruleId: null, channels: [] };
    const chosen = serviceId === DRILL_SERVICE ? this.#drills.get(JSON.stringify([tenant, environment])) : undefined;
    if (chosen !== undefined) return { ruleId: null, channels: this.named(tenant, chosen) };
    const { rule, channels } = this.route(tenant, { serviceId, severity, source, environment, labels });
    return { ruleId: rule?.id ?? null, channels };
  }

  /** Has a drill told to these channels, until what is returned is called; by the rules where none are given. */
  chooseFor(of: { readonly tenant: string; readonly environment: string }, channels: readonly string[] | undefined): () => void {
    const key = JSON.stringify([of.tenant, of.environment]);
    if (channels !== undefined) this.#drills.set(key, channels);
    return () => void this.#drills.delete(key);
  }

  /** Where channels lead that are named, not routed to. */
  named(tenant: string, channels: readonly string[]): readonly RoutedChannel[] {
    return routedChannels(this.#book.destinations, tenant, channels, this.#book.catchAllOf(tenant).channels);
  }

  defaultOf(tenant: string, notifier: Notifier): Destination | null {
    return resolveChannel(this.#book.destinations, tenant, { notifier, target: null }).destination;
  }
}
