import { createCors } from "./cors.ts";
import { createForwarding } from "./forwarding.ts";
import type { HttpSettings } from "./http-settings.ts";
import type { Gate } from "./messages.ts";
import { logRequest } from "./request-log.ts";
import { aborted } from "./request-meter.ts";
import { fixedHeaders } from "./security-headers.ts";

/** What all requests of one server share, and what is done when one of them ends. */
export function createGate(settings: HttpSettings): Gate {
  const { logger, metrics } = settings;
  const malformed = metrics.counter(
    "fieldgate_http_malformed_requests_total",
    "What was no whole HTTP request, by the error it was answered with.",
    ["code"],
  );
  const gate: Gate = {
    forwarding: createForwarding(settings.trustedProxies),
    cors: createCors(settings.corsOrigins),
    fixedHeaders: fixedHeaders(settings),
    dpopNonce: settings.dpopNonce,
    phase: "open",
    inFlight: 0,
    express: new Map(),
    unmatched: metrics.requestMeter("unmatched", "any"),
    onDone(response) {
      const seconds = (performance.now() - response.startedAt) / 1000;
      response.meter.observe(response.writableFinished ? response.statusCode : aborted, seconds);
      logRequest(logger, response, seconds);
    },
    onMalformed: (code) => malformed.inc({ code }),
  };
  metrics.watchInFlight(() => gate.inFlight);
  return gate;
}
