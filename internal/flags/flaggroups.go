// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
)

// JobPrefix begins the names of the fields that the options of a job set.
const JobPrefix = "Cluster.Join."

// LearnerSpecs returns the learner's options that set fields of learn.Config, without
// those of JobSpecs.
func LearnerSpecs() []*cli.Spec {
	return slices.DeleteFunc(slices.Clone(Learn), func(s *cli.Spec) bool { return s.Sets == "" || strings.HasPrefix(s.Sets, JobPrefix) })
}

// JobSpecs returns the learner's options that set fields of allreduce.Config.
func JobSpecs() []*cli.Spec {
	return slices.DeleteFunc(slices.Clone(Learn), func(s *cli.Spec) bool { return !strings.HasPrefix(s.Sets, JobPrefix) })
}

// ClusterNeeded are the options that make a process a rank: all of them are given, or none.
// ClusterExtra are the other options of a rank, which need them.
var (
	ClusterNeeded = []string{"span_server", "unique_id", "total", "node"}
	ClusterExtra  = []string{"spare", "span_server_port", "shard", "run_id", "generation", "run_dir", "on_loss", "replace_timeout", "slow_factor", "heartbeat", "lost_after", "server_timeout", "stall_timeout", "file_timeout", "start_timeout", "elastic", "checkpoint", "bind", "advertise", "port_range", "schedule", "checksum", "shm", "transport", "verbs_device", "verbs_memory", "timeline", "log_to_server", "trace_dir", "secret_file", "encrypt", "tls_cert", "tls_key", "tls_ca", "allow_vw", "allow", "job_token"}
)

// Guarded are the options of guardFlags and credentialFlags.
var Guarded = []string{"secret_file", "encrypt", "tls_cert", "tls_key", "tls_ca", "allow_vw", "allow", "job_token"}

// LauncherSays are the options of ranks that gvw run sets itself. Users must not give them.
var LauncherSays = slices.Concat(ClusterNeeded, []string{"span_server_port", "shard", "run_id", "run_dir", "generation", "spare", "elastic"})
