// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gvw-project/gvw/internal/monitor/traffic"
)

// The counters of a job, over all its ranks and their attempts.
var (
	jobPhases    = desc("job_phase_seconds_total", "Time of the ranks: load, compute, network or wait.", "job", "phase")
	jobCalls     = desc("job_collective_seconds", "Times of collectives, as a histogram; each rank counts its own.", "job", "collective")
	jobCallBytes = desc("job_collective_bytes_total", "Bytes of the vectors in collectives; each rank counts its own.", "job", "collective")
	jobSent      = desc("job_sent_bytes_total", "Bytes that ranks have sent to each other, by carrier and machine.", "job", "edge", "host")
	jobReceived  = desc("job_received_bytes_total", "Bytes that ranks have received from each other.", "job", "edge", "host")
)

// maxTrafficSeries is the number of metrics that collectTraffic sends at most.
const maxTrafficSeries = int(traffic.Phases) + 2*int(traffic.CallKinds) + 2*traffic.MaxClasses

// collectTraffic sends the counters of a job; nil: no rank has sent counts.
func collectTraffic(to chan<- prometheus.Metric, c *traffic.Counts, job string) {
	if c == nil {
		return
	}
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	for p, d := range c.Times {
		counter(jobPhases, d.Seconds(), job, traffic.Phase(p).String())
	}
	for i := range c.Calls {
		k := &c.Calls[i]
		buckets, sum := make(map[float64]uint64, len(traffic.Bounds)), uint64(0)
		for b, bound := range traffic.Bounds {
			sum += k.Buckets[b]
			buckets[bound] = sum
		}
		to <- prometheus.MustNewConstHistogram(jobCalls, k.Count, k.Took.Seconds(), buckets, job, k.Call.String())
		counter(jobCallBytes, float64(k.Bytes), job, k.Call.String())
	}
	for _, k := range c.Classes {
		host := "other"
		if k.Local {
			host = "same"
		}
		counter(jobSent, float64(k.Sent), job, k.Via.String(), host)
		counter(jobReceived, float64(k.Received), job, k.Via.String(), host)
	}
}
