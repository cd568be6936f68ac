import { describe, expect, test } from "vitest";
import { createMetrics } from "./metrics.ts";
import { aborted } from "./request-meter.ts";

describe("metrics", () => {
  test("durations come out as a histogram by route, method and status", async () => {
    const metrics = createMetrics();
    const meter = metrics.requestMeter("/api/users/me", "GET");
    meter.observe(200, 0.0004);
    meter.observe(200, 0.003);
    meter.observe(200, 60);
    meter.observe(401, 0.01);
    meter.observe(aborted, 1);
    const text = await metrics.registry.metrics();
    const labels = 'route="/api/users/me",method="GET"';
    expect(text).toContain("# TYPE fieldgate_http_request_duration_seconds histogram");
    expect(text).toContain(`fieldgate_http_request_duration_seconds_bucket{${labels},status="200",le="0.001"} 1`);
    expect(text).toContain(`fieldgate_http_request_duration_seconds_bucket{${labels},status="200",le="0.005"} 2`);
    expect(text).toContain(`fieldgate_http_request_duration_seconds_bucket{${labels},status="200",le="10"} 2`);
    expect(text).toContain(`fieldgate_http_request_duration_seconds_bucket{${labels},status="200",le="+Inf"} 3`);
    expect(text).toContain(`fieldgate_http_request_duration_seconds_count{${labels},status="200"} 3`);
    expect(text).toContain(`fieldgate_http_request_duration_seconds_count{${labels},status="401"} 1`);
    expect(text).toContain(`fieldgate_http_request_duration_seconds_sum{${labels},status="aborted"} 1`);
  });

  test("two services in one process have nothing in common", async () => {
    const [one, two] = [createMetrics(), createMetrics()];
    one.counter("fieldgate_tries_total", "Tries.", ["kind"]).inc({ kind: "x" });
    one.gauge("fieldgate_depth", "Depth.", () => 7);
    expect(await one.registry.metrics()).toMatch(/fieldgate_tries_total\{kind="x"\} 1[\s\S]*fieldgate_depth 7/);
    expect(await two.registry.metrics()).not.toContain("fieldgate_tries_total");
    expect(await two.registry.metrics()).toContain("process_resident_memory_bytes");
  });

  test("a route has one meter", () => {
    const metrics = createMetrics();
    expect(metrics.requestMeter("/a", "GET")).toBe(metrics.requestMeter("/a", "GET"));
    expect(metrics.requestMeter("/a", "GET")).not.toBe(metrics.requestMeter("/a", "POST"));
  });
});
