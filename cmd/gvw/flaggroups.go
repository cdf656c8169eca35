// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
)

// jobPrefix begins the names of the fields that the options of a job set.
const jobPrefix = "Cluster.Join."

// learnerSpecs returns the learner's options that set fields of learn.Config, without
// those of jobSpecs.
func learnerSpecs() []*spec {
	return slices.DeleteFunc(slices.Clone(learnFlags), func(s *spec) bool { return s.sets == "" || strings.HasPrefix(s.sets, jobPrefix) })
}

// jobSpecs returns the learner's options that set fields of allreduce.Config.
func jobSpecs() []*spec {
	return slices.DeleteFunc(slices.Clone(learnFlags), func(s *spec) bool { return !strings.HasPrefix(s.sets, jobPrefix) })
}

// clusterNeeded are the options that make a process a rank, all or none;
// clusterExtra belong to them.
var (
	clusterNeeded = []string{"span_server", "unique_id", "total", "node"}
	clusterExtra  = []string{"spare", "span_server_port", "shard", "run_id", "generation", "run_dir", "on_loss", "replace_timeout", "slow_factor", "heartbeat", "lost_after", "server_timeout", "stall_timeout", "file_timeout", "start_timeout", "elastic", "checkpoint", "bind", "advertise", "port_range", "schedule", "checksum", "shm", "transport", "verbs_device", "trace_dir", "secret_file", "encrypt", "tls_cert", "tls_key", "tls_ca", "allow_vw", "allow", "job_token"}
)

// guarded are the options of guardFlags and credentialFlags.
var guarded = []string{"secret_file", "encrypt", "tls_cert", "tls_key", "tls_ca", "allow_vw", "allow", "job_token"}

// launcherSays are the options of ranks that gvw run sets itself.
var launcherSays = slices.Concat(clusterNeeded, []string{"span_server_port", "shard", "run_id", "run_dir", "generation", "spare", "elastic"})
