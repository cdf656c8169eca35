// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/serve/engine"
)

// requestBounds are the upper bounds of the histogram of request times, in seconds.
var requestBounds = []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10}

// counter is a metric of each model.
type counter struct {
	desc  *prometheus.Desc
	value func(m *engine.Metrics) uint64
}

// newCounter returns a counter gvw_NAME_total.
func newCounter(name, help string, value func(m *engine.Metrics) uint64) counter {
	return counter{prometheus.NewDesc("gvw_"+name+"_total", help, []string{"model"}, nil), value}
}

var counters = []counter{
	newCounter("predictions", "Lines with a prediction.", func(m *engine.Metrics) uint64 { return m.Answers.Load() }),
	newCounter("errors", "Lines with an error.", func(m *engine.Metrics) uint64 { return m.Faults.Load() }),
	newCounter("reloads", "Models that have replaced others.", func(m *engine.Metrics) uint64 { return m.Reloads.Load() }),
	newCounter("reload_errors", "Reloads that have failed.", func(m *engine.Metrics) uint64 { return m.ReloadFails.Load() }),
	newCounter("checkpoints", "Checkpoints of a model that learns.", func(m *engine.Metrics) uint64 { return m.Checkpoints.Load() }),
}

// collector presents the counters of the engines to Prometheus.
type collector []Model

var _ prometheus.Collector = collector(nil)

// Describe sends the descriptions of all counters.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, m := range counters {
		to <- m.desc
	}
}

// Collect sends the counters of each model.
func (c collector) Collect(to chan<- prometheus.Metric) {
	for _, model := range c {
		for _, m := range counters {
			to <- prometheus.MustNewConstMetric(m.desc, prometheus.CounterValue, float64(m.value(&model.Engine.Metrics)), plain.Text(model.Name))
		}
	}
}

// newMetrics returns the metrics of models, and the histogram of request times among them.
func newMetrics(models []Model) (all *prometheus.Registry, requests prometheus.Histogram) {
	requests = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "gvw_request_seconds", Help: "Time of requests for predictions.", Buckets: requestBounds,
	})
	all = prometheus.NewPedanticRegistry()
	all.MustRegister(collector(models), requests)
	return all, requests
}

// metricsHandler returns a handler that answers scrapes.
func metricsHandler(all *prometheus.Registry) http.HandlerFunc {
	return promhttp.HandlerFor(all, promhttp.HandlerOpts{}).ServeHTTP
}
