// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// bounds are the upper bounds of the histogram of request times, in seconds.
var bounds = [...]float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10}

// metrics are those of requests.
type metrics struct {
	buckets [len(bounds) + 1]atomic.Uint64 // the last: longer
	nanos   atomic.Uint64
}

// observe counts a request.
func (m *metrics) observe(d time.Duration) {
	i := 0
	for i < len(bounds) && d.Seconds() > bounds[i] {
		i++
	}
	m.buckets[i].Add(1)
	m.nanos.Add(uint64(max(d, 0)))
}

// writeMetrics writes all counters in Prometheus's text format.
func (h *handler) writeMetrics(w http.ResponseWriter, _ *http.Request) {
	var b strings.Builder
	for _, c := range []struct {
		name, help string
		of         func(m *Model) uint64
	}{
		{"predictions", "Lines with a prediction.", func(m *Model) uint64 { return m.Engine.Metrics.Answers.Load() }},
		{"errors", "Lines with an error.", func(m *Model) uint64 { return m.Engine.Metrics.Faults.Load() }},
		{"reloads", "Models that have replaced others.", func(m *Model) uint64 { return m.Engine.Metrics.Reloads.Load() }},
		{"reload_errors", "Reloads that have failed.", func(m *Model) uint64 { return m.Engine.Metrics.ReloadFails.Load() }},
		{"checkpoints", "Checkpoints of a model that learns.", func(m *Model) uint64 { return m.Engine.Metrics.Checkpoints.Load() }},
	} {
		fmt.Fprintf(&b, "# HELP gvw_%s_total %s\n# TYPE gvw_%s_total counter\n", c.name, c.help, c.name)
		for i := range h.cfg.Models {
			m := &h.cfg.Models[i]
			fmt.Fprintf(&b, "gvw_%s_total{model=%q} %d\n", c.name, m.Name, c.of(m))
		}
	}
	b.WriteString("# HELP gvw_request_seconds Time of requests for predictions.\n# TYPE gvw_request_seconds histogram\n")
	sum := uint64(0)
	for i, bound := range bounds {
		sum += h.metrics.buckets[i].Load()
		fmt.Fprintf(&b, "gvw_request_seconds_bucket{le=\"%g\"} %d\n", bound, sum)
	}
	sum += h.metrics.buckets[len(bounds)].Load()
	fmt.Fprintf(&b, "gvw_request_seconds_bucket{le=\"+Inf\"} %d\n", sum)
	fmt.Fprintf(&b, "gvw_request_seconds_sum %g\ngvw_request_seconds_count %d\n", time.Duration(h.metrics.nanos.Load()).Seconds(), sum)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(b.String())) // the client may have gone
}
