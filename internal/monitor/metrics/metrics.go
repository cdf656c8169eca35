// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"math"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// MaxJobs is the number of jobs with metrics of their own.
const MaxJobs = 64

// states are the phases of a job, and outcomes its ends.
var (
	states   = []string{"filling", "wired", "recovering", "ending"}
	outcomes = []string{"finished", "failed", "cancelled", "closed", "handed over"}
)

// Handler returns a handler that answers scrapes by the status of a server.
func Handler(status func() protocol.ServerStatus) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(collector{status})
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{})
}

// collector makes metrics of a status.
type collector struct {
	status func() protocol.ServerStatus
}

var _ prometheus.Collector = collector{}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("gvw_"+name, help, labels, nil)
}

// The metrics of a server.
var (
	serverInfo     = desc("server_info", "Version of the server; the value is 1.", "version")
	serverTerm     = desc("server_term", "Starts of the server on its journal.")
	serverDraining = desc("server_draining", "1: the server refuses new jobs and ends after the running ones.")
	serverJournal  = desc("server_journal_failed", "1: the journal accepts no record until the server is restarted.")
	serverJobs     = desc("server_jobs", "Jobs that fill or run, by state.", "state")
	serverEnded    = desc("server_ended_jobs", "Ended jobs that the server remembers, by outcome.", "outcome")
	serverHidden   = desc("server_jobs_without_metrics", "Running jobs beyond the newest 64.")
)

// jobMetric is a metric of a job.
type jobMetric struct {
	desc  *prometheus.Desc
	value func(protocol.JobStatus) float64
}

// holders returns the attempts that hold ranks and speak the native protocol.
func holders(j protocol.JobStatus) (all []protocol.RankStatus) {
	for _, r := range j.Ranks {
		if r.State != "standby" && r.State != "spare" && !r.VW {
			all = append(all, r)
		}
	}
	return all
}

// most returns the largest value of a job's ranks, or 0.
func most(j protocol.JobStatus, value func(protocol.RankStatus) float64) (v float64) {
	for _, r := range holders(j) {
		v = max(v, value(r))
	}
	return v
}

// least returns the least value of a job's ranks, or 0.
func least(j protocol.JobStatus, value func(protocol.RankStatus) float64) float64 {
	v := math.Inf(1)
	for _, r := range holders(j) {
		v = min(v, value(r))
	}
	if math.IsInf(v, 1) {
		return 0
	}
	return v
}

func steps(r protocol.RankStatus) float64 { return float64(r.Steps) }

// meanLoss returns the mean loss of a job's ranks, weighted by their examples, or 0.
func meanLoss(j protocol.JobStatus) float64 {
	var sum, examples float64
	for _, r := range holders(j) {
		sum += r.Loss * float64(r.Examples)
		examples += float64(r.Examples)
	}
	if examples == 0 {
		return 0
	}
	return sum / examples
}

// ready returns the number of ranks that are ready or complete.
func ready(j protocol.JobStatus) (n float64) {
	for _, r := range holders(j) {
		if r.State == "ready" || r.State == "complete" {
			n++
		}
	}
	return n
}

var jobMetrics = []jobMetric{
	{desc("job_ranks", "Ranks of the job, as its options name them.", "job"), func(j protocol.JobStatus) float64 { return float64(j.Total) }},
	{desc("job_joined_ranks", "Ranks that have an attempt.", "job"), func(j protocol.JobStatus) float64 { return float64(j.Joined) }},
	{desc("job_ready_ranks", "Ranks that have read their data.", "job"), ready},
	{desc("job_vacant_ranks", "Lost ranks that must be replaced.", "job"), func(j protocol.JobStatus) float64 { return float64(len(j.Vacant)) }},
	{desc("job_removed_ranks", "Ranks without which the job continues.", "job"), func(j protocol.JobStatus) float64 { return float64(len(j.Removed)) }},
	{desc("job_standbys", "Attempts of ranks that other attempts hold.", "job"), func(j protocol.JobStatus) float64 { return float64(j.Standbys) }},
	{desc("job_spares", "Attempts without a rank.", "job"), func(j protocol.JobStatus) float64 { return float64(j.Spares) }},
	{desc("job_refused_attempts", "Attempts whose options or total differ from those of the job.", "job"), func(j protocol.JobStatus) float64 { return float64(j.Refused) }},
	{desc("job_age_seconds", "Time since the job was opened.", "job"), func(j protocol.JobStatus) float64 { return j.Seconds }},
	{desc("job_steps", "Completed steps of the slowest rank.", "job"), func(j protocol.JobStatus) float64 { return least(j, steps) }},
	{desc("job_steps_spread", "Completed steps of the fastest rank less those of the slowest.", "job"), func(j protocol.JobStatus) float64 { return most(j, steps) - least(j, steps) }},
	{desc("job_examples", "Examples of the newest pass, over all ranks.", "job"), func(j protocol.JobStatus) (n float64) {
		for _, r := range holders(j) {
			n += float64(r.Examples)
		}
		return n
	}},
	{desc("job_loss", "Mean loss of the newest pass, over all ranks.", "job"), meanLoss},
	{desc("job_silence_seconds", "Time since the newest frame of the most silent rank.", "job"), func(j protocol.JobStatus) float64 {
		return most(j, func(r protocol.RankStatus) float64 { return r.Silent })
	}},
	{desc("job_waiting_ranks", "Ranks that have waited for another one for a second or longer.", "job"), func(j protocol.JobStatus) (n float64) {
		for _, r := range holders(j) {
			if r.Waits != "" {
				n++
			}
		}
		return n
	}},
}

// Describe sends the descriptions of all metrics.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{serverInfo, serverTerm, serverDraining, serverJournal, serverJobs, serverEnded, serverHidden} {
		to <- d
	}
	for _, m := range jobMetrics {
		to <- m.desc
	}
	for _, d := range []*prometheus.Desc{jobPhases, jobCalls, jobCallBytes, jobSent, jobReceived} {
		to <- d
	}
}

// one returns 1 for true.
func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Collect sends the metrics of a status.
func (c collector) Collect(to chan<- prometheus.Metric) {
	s := c.status()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(serverInfo, 1, s.Version)
	gauge(serverTerm, float64(s.Term))
	gauge(serverDraining, one(s.Draining))
	gauge(serverJournal, one(s.Journal != ""))
	for _, state := range states {
		n := 0
		for _, j := range s.Jobs {
			if j.State == state {
				n++
			}
		}
		gauge(serverJobs, float64(n), state)
	}
	for _, outcome := range outcomes {
		n := 0
		for _, j := range s.Ended {
			if j.Outcome == outcome {
				n++
			}
		}
		gauge(serverEnded, float64(n), outcome)
	}
	hidden := max(0, len(s.Jobs)-MaxJobs)
	gauge(serverHidden, float64(hidden))
	for _, j := range s.Jobs[hidden:] {
		name := jobName(j)
		for _, m := range jobMetrics {
			gauge(m.desc, m.value(j), name)
		}
		collectTraffic(to, j.Traffic, name)
	}
}

// jobName returns the label of a job. The id and the run key together are unique.
func jobName(j protocol.JobStatus) string {
	name := strconv.FormatUint(j.UniqueID, 10)
	if j.RunKey != "" {
		name += "/" + plain.Text(j.RunKey)
	}
	return name
}
