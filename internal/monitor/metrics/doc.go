// SPDX-License-Identifier: Apache-2.0

// Package metrics presents the status of a server to Prometheus.
//
//	h := metrics.Handler(server.Status)
//	mux.Handle("GET /metrics", h)
//
// # Contract
//
// Each scrape takes one status. The newest [MaxJobs] jobs have metrics of their own, with the label job. Ranks have no
// labels: a metric of a job is the sum, the least or the largest value of its ranks, so that a job of 16,384 ranks has as
// many series as one of two. The counters of a job have the labels phase, collective, edge and host, whose values are fixed
// sets. They include lost attempts, and never decrease while the server runs. docs/monitoring.md lists the metrics, and a test compares the list with the code.
package metrics
