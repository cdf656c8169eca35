// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"strings"

	"github.com/gvw-project/gvw/allreduce/doctor"
	"github.com/gvw-project/gvw/allreduce/pipe"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/bench/collective"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/splines"
	"github.com/gvw-project/gvw/malt/graph"
	maltpipe "github.com/gvw-project/gvw/malt/pipe"
)

// catTopo is the category of the options of gvw topo.
const catTopo = "What to draw"

// Topo are the options of `gvw topo`.
var Topo = []*cli.Spec{
	{Name: "n", Short: "n", Kind: cli.Integer, Positive: true, Max: 1024, Category: catTopo, Arg: "N", Help: "ranks, up to 1024"},
	{Name: "schedule", Kind: cli.Text, Category: catTopo, Arg: "NAME", Choices: scheduleNames(), Def: "auto", Help: "schedule of the all-reduce"},
	{Name: "graph", Kind: cli.Text, Category: catTopo, Arg: "GRAPH", Help: "draw a dataflow graph of asynchronous training instead: " + strings.Join(graph.Names(), ", ") + ", or a file with a list of edges or DOT"},
	{Name: "mixing", Kind: cli.Text, Category: catTopo, Arg: "HOW", Choices: []string{"uniform", "metropolis"}, Implied: "uniform", Help: "with --graph: print the weight of each rank's value in the next value of the others (ascii)"},
	{Name: "bytes", Kind: cli.Integer, Max: 1 << 40, Category: catTopo, Arg: "B", Def: "1048576", Help: "length of the vector, a multiple of 4"},
	{Name: "rank", Kind: cli.Integer, Category: catTopo, Arg: "R", Help: "list the steps of this rank, too (ascii)"},
	{Name: "format", Kind: cli.Text, Category: catTopo, Arg: "HOW", Choices: []string{"ascii", "dot", "svg"}, Def: "ascii", Help: "text, Graphviz or a picture"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// scheduleNames returns the values of --schedule: auto, and every schedule.
func scheduleNames() []string {
	names := []string{schedule.Auto.String()}
	for _, n := range schedule.Names {
		names = append(names, n.String())
	}
	return names
}

// catReduce is the category of the reduction of gvw allreduce.
const catReduce = "Reduction"

// AllReduce are the options of `gvw allreduce`.
var AllReduce = append([]*cli.Spec{
	{Name: "op", Kind: cli.Text, Category: catReduce, Arg: "OP", Choices: pipe.Ops, Help: "reduction of the vectors"},
	{Name: "type", Kind: cli.Text, Category: catReduce, Arg: "TYPE", Choices: pipe.Types, Def: "f64", Help: "type of the elements; text is for gather"},
	{Name: "frames", Kind: cli.Boolean, Category: catReduce, Help: "length-prefixed binary vectors, not lines"},
	{Name: "quiet", Kind: cli.Boolean, Category: catReduce, Help: "errors only"},
}, append(clusterFlags("shard", "timeline", "run_dir", "on_loss", "replace_timeout", "slow_factor", "checkpoint", "checkpoint_every", "checkpoint_interval", "resume", "elastic", "verbs_memory"), &cli.Spec{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"})...)

// catExchange is the category of the exchange of gvw malt.
const catExchange = "Exchange"

// Malt are the options of `gvw malt`.
var Malt = append([]*cli.Spec{
	{Name: "graph", Kind: cli.Text, Category: catExchange, Arg: "GRAPH", Def: "all", Help: "to which ranks a rank sends: " + graphNames},
	{Name: "sync", Kind: cli.Text, Category: catExchange, Arg: "MODE", Def: "asp", Help: "wait for no rank (asp), all (bsp), those S rounds behind (ssp:S), or neighbours (notify_ack)"},
	{Name: "merge", Kind: cli.Text, Category: catExchange, Arg: "HOW", Choices: maltpipe.Mergers, Def: maltpipe.Mergers[0], Help: "what becomes of a vector and those that have arrived"},
	{Name: "max_delay", Kind: cli.Integer, Positive: true, Max: 1 << 30, Category: catExchange, Arg: "D", Help: "drop vectors that are more than D rounds late"},
	{Name: "type", Kind: cli.Text, Category: catExchange, Arg: "TYPE", Choices: maltpipe.Types, Def: "f64", Help: "type of the elements"},
	{Name: "frames", Kind: cli.Boolean, Category: catExchange, Help: "length-prefixed binary vectors, not lines"},
	{Name: "quiet", Kind: cli.Boolean, Category: catExchange, Help: "errors only"},
}, append(clusterFlags("shard", "run_dir", "replace_timeout", "slow_factor", "checkpoint", "checkpoint_every", "checkpoint_interval", "resume", "elastic", "spare", "schedule", "checksum", "shm", "timeline", "log_to_server", "trace_dir", "stall_timeout", "file_timeout"), &cli.Spec{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"})...)

// clusterFlags returns the learner's options of a job, except those in but. Commands that join
// a job share the learner's rows, so that help and checks are the same.
func clusterFlags(but ...string) []*cli.Spec {
	var out []*cli.Spec
	for _, s := range Learn {
		leave := s.Category != catCluster
		for _, name := range but {
			leave = leave || s.Name == name
		}
		if !leave {
			out = append(out, s)
		}
	}
	return out
}

// catBench is the category of the options of gvw bench.
const catBench = "What to measure"

// Bench are the options of `gvw bench allreduce`.
var Bench = []*cli.Spec{
	{Name: "ranks", Short: "n", Kind: cli.Integer, Positive: true, Max: 4096, Category: catBench, Arg: "N", Def: "4", Help: "processes that take part"},
	{Name: "transport", Kind: cli.Text, Category: catBench, Arg: "HOW", Choices: collective.Transports, Def: "tcp", Help: "loopback sockets, shared memory, channels in one process, or an RDMA device"},
	{Name: "sizes", Kind: cli.Text, Category: catBench, Arg: "A,B,...", Def: "4,65536,1048576,16777216", Help: "bytes of a vector, multiples of 4"},
	{Name: "schedule", Kind: cli.Text, Category: catBench, Arg: "NAME", Choices: append([]string{"all"}, collective.Schedules()...), Def: "auto", Help: "schedule; all: each in turn"},
	{Name: "checksum", Kind: cli.Text, Category: catBench, Arg: "on|off", Choices: []string{"on", "off"}, Def: "on", Help: "CRC-32C of each chunk, as in training"},
	{Name: "alloc", Kind: cli.Boolean, Category: catBench, Help: "with --transport shm or verbs: vectors from allreduce.Alloc too"},
	{Name: "secret", Kind: cli.Boolean, Category: catBench, Help: "also with a generated secret"},
	{Name: "tls", Kind: cli.Boolean, Category: catBench, Help: "also over TLS, with generated certificates"},
	{Name: "rounds", Kind: cli.Integer, Positive: true, Max: 1000, Category: catBench, Arg: "R", Def: "3", Help: "rounds, in each of which every system is measured"},
	{Name: "per_size", Kind: cli.Duration, Category: catBench, Arg: "T", Def: "0.3s", Help: "time for one size in one round"},
	{Name: "peers", Kind: cli.Boolean, Category: catBench, Help: "also measure Open MPI, MPICH, XGBoost and vw"},
	{Name: "python", Kind: cli.Text, Category: catBench, Arg: "PROGRAM", Def: "python3", Help: "an interpreter with xgboost and vowpalwabbit"},
	{Name: "netns", Kind: cli.Boolean, Category: catBench, Help: "in a fresh network namespace (Linux)"},
	{Name: "trace_dir", Kind: cli.Text, Category: catBench, Arg: "DIR", Help: "folder for execution traces of ranks that wait long"},
	{Name: "json", Kind: cli.Boolean, Category: catBench, Help: "one JSON object a line for each figure"},
	{Name: "quiet", Kind: cli.Boolean, Category: catBench, Help: "no progress messages"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// catSimulate is the category of the options of gvw simulate.
const catSimulate = "What to simulate"

// SimulateAllReduce are the options of `gvw simulate allreduce`.
var SimulateAllReduce = []*cli.Spec{
	{Name: "ranks", Short: "n", Kind: cli.Text, Category: catSimulate, Arg: "A,B,...", Def: "10,30,100,300,1000", Help: "numbers of ranks, up to 10000"},
	{Name: "rate", Kind: cli.Text, Category: catSimulate, Arg: "A,B,...", Def: "1", Help: "rates of a host's link in each direction, in Gbit/s"},
	{Name: "schedule", Kind: cli.Text, Category: catSimulate, Arg: "A,B,...", Def: "auto,vw", Help: "schedules; vw: vw's own all-reduce; all: each of them"},
	{Name: "bytes", Kind: cli.Integer, Positive: true, Max: 1 << 40, Category: catSimulate, Arg: "B", Def: "67108864", Help: "length of the vector, a multiple of 4"},
	{Name: "chunk", Kind: cli.Integer, Positive: true, Max: 1 << 30, Category: catSimulate, Arg: "B", Help: "bytes per message, a multiple of 8 (262144; with vw 65536)"},
	{Name: "latency", Kind: cli.Duration, Category: catSimulate, Arg: "T", Def: "50us", Help: "latency from host to host"},
	{Name: "headers", Kind: cli.Float, Category: catSimulate, Arg: "X", Def: "0.0622", Help: "bytes of headers per byte sent; by default those of TCP over Ethernet"},
	{Name: "ranks_per_host", Kind: cli.Integer, Positive: true, Max: 1024, Category: catSimulate, Arg: "K", Def: "1", Help: "ranks that share a host and its link"},
	{Name: "hosts_per_rack", Kind: cli.Integer, Max: 10_000, Category: catSimulate, Arg: "K", Def: "0", Help: "hosts that share the uplink of a rack; 0: one rack"},
	{Name: "oversubscription", Kind: cli.Float, Positive: true, Category: catSimulate, Arg: "X", Def: "1", Help: "rates of the hosts of a rack over the rate of its uplink"},
	{Name: "csv", Kind: cli.Text, Category: catSimulate, Arg: "FILE", Help: "also write the table as CSV"},
	{Name: "svg", Kind: cli.Text, Category: catSimulate, Arg: "FILE", Help: "also write a picture of the times by ranks"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// SimulateLosses are the options of `gvw simulate losses`.
var SimulateLosses = []*cli.Spec{
	{Name: "ranks", Short: "n", Kind: cli.Integer, Positive: true, Max: 4000, Category: catSimulate, Arg: "N", Def: "100", Help: "ranks of the job"},
	{Name: "between", Kind: cli.Text, Category: catSimulate, Arg: "A,B,...", Def: "100,1000", Help: "mean times in hours until a process or its host fails"},
	{Name: "spares", Kind: cli.Text, Category: catSimulate, Arg: "A,B,...", Def: "1,2,4", Help: "numbers of spares, in addition to none"},
	{Name: "silent", Kind: cli.Float, Category: catSimulate, Arg: "X", Def: "0", Help: "share of failures that close no connection, as of hosts; 0 to 1"},
	{Name: "steps", Kind: cli.Integer, Positive: true, Max: 1_000_000, Category: catSimulate, Arg: "K", Def: "1000", Help: "steps of the job"},
	{Name: "step", Kind: cli.Duration, Positive: true, Category: catSimulate, Arg: "T", Def: "10s", Help: "time of a step, all-reduce included"},
	{Name: "load", Kind: cli.Duration, Category: catSimulate, Arg: "T", Def: "60s", Help: "time for a rank to load its data"},
	{Name: "restart", Kind: cli.Duration, Category: catSimulate, Arg: "T", Def: "30s", Help: "time for the launcher to start a lost rank again"},
	{Name: "fetch", Kind: cli.Duration, Category: catSimulate, Arg: "T", Def: "2s", Help: "time to copy the state from another rank"},
	{Name: "lost_after", Kind: cli.Duration, Positive: true, Category: catSimulate, Arg: "T", Def: "10s", Help: "silence after which a rank is lost"},
	{Name: "trials", Kind: cli.Integer, Positive: true, Max: 10_000, Category: catSimulate, Arg: "K", Def: "20", Help: "simulated jobs for each row"},
	{Name: "seed", Kind: cli.Integer, Max: 1 << 32, Category: catSimulate, Arg: "S", Def: "1", Help: "seed of the random failures"},
	{Name: "csv", Kind: cli.Text, Category: catSimulate, Arg: "FILE", Help: "also write the table as CSV"},
	{Name: "svg", Kind: cli.Text, Category: catSimulate, Arg: "FILE", Help: "also write a picture of the lost time by failures"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// SimulatePasses are the options of `gvw simulate passes`.
var SimulatePasses = []*cli.Spec{
	{Name: "ranks", Short: "n", Kind: cli.Text, Category: catSimulate, Arg: "A,B,...", Def: "10,100,1000", Help: "numbers of ranks"},
	{Name: "work", Kind: cli.Duration, Positive: true, Category: catSimulate, Arg: "T", Def: "1h", Help: "time of a pass over all data on one usual host"},
	{Name: "passes", Kind: cli.Integer, Positive: true, Max: 1000, Category: catSimulate, Arg: "K", Def: "20", Help: "passes of the job, at least 2"},
	{Name: "hosts", Kind: cli.Text, Category: catSimulate, Arg: "P:F,...", Help: "times of hosts by quantiles [those published for 1,000 nodes]"},
	{Name: "speculate", Kind: cli.Float, Category: catSimulate, Arg: "X", Def: "1.5", Help: "multiple of the median after which a rank gets a second attempt"},
	{Name: "slow_factor", Kind: cli.Float, Category: catSimulate, Arg: "X", Def: "2", Help: "the server's --slow_factor"},
	{Name: "bytes", Kind: cli.Integer, Positive: true, Max: 1 << 40, Category: catSimulate, Arg: "B", Def: "67108864", Help: "vector that is summed after each pass, a multiple of 4"},
	{Name: "rate", Kind: cli.Float, Positive: true, Category: catSimulate, Arg: "X", Def: "1", Help: "rate of a host's link in Gbit/s"},
	{Name: "seed", Kind: cli.Integer, Max: 1 << 32, Category: catSimulate, Arg: "S", Def: "1", Help: "seed of the random hosts"},
	{Name: "csv", Kind: cli.Text, Category: catSimulate, Arg: "FILE", Help: "also write the table as CSV"},
	{Name: "svg", Kind: cli.Text, Category: catSimulate, Arg: "FILE", Help: "also write a picture of the speed-up by ranks"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// catDoctor is the category of the options of gvw doctor.
const catDoctor = "Examination"

// Doctor are the options of `gvw doctor`.
var Doctor = append([]*cli.Spec{
	{Name: "workers", Short: "n", Kind: cli.Integer, Positive: true, Max: doctor.MaxRanks, Category: catDoctor, Arg: "N", Help: "ranks on this machine, with their own server"},
	{Name: "patience", Kind: cli.Duration, Positive: true, Category: catDoctor, Arg: "T", Def: "5s", Help: "time for a rank to answer"},
	{Name: "verbs", Kind: cli.Boolean, Category: catDoctor, Help: "only list the RDMA devices of this machine"},
	{Name: "quiet", Kind: cli.Boolean, Category: catDoctor, Help: "no table: only the faults"},
}, append(clusterFlags("shard", "run_dir", "checkpoint", "checkpoint_every", "checkpoint_interval", "resume", "schedule", "checksum", "heartbeat", "lost_after", "server_timeout", "stall_timeout", "on_loss", "elastic", "replace_timeout", "slow_factor", "transport", "verbs_device", "verbs_memory", "timeline", "log_to_server", "trace_dir", "allow", "allow_vw", "job_token"), &cli.Spec{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"})...)

// catKeygen is the category of the options of gvw keygen.
const catKeygen = "Keys"

// Keygen are the options of `gvw keygen`.
var Keygen = []*cli.Spec{
	{Name: "secret", Kind: cli.Text, Category: catKeygen, Arg: "FILE", Help: "create a secret, for --secret_file or --job_token"},
	{Name: "dir", Kind: cli.Text, Category: catKeygen, Arg: "DIR", Help: "make an authority and certificates in a new folder"},
	{Name: "hosts", Kind: cli.Text, Category: catKeygen, Arg: "A,B,..", Help: "names and addresses of the server, beside localhost"},
	{Name: "days", Kind: cli.Integer, Positive: true, Max: 3650, Category: catKeygen, Arg: "N", Def: "365", Help: "how long certificates hold"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// catServer is the category of the address and credentials of a server.
const catServer = "Server"

// serverFlags are the options that choose a server.
var serverFlags = append([]*cli.Spec{
	{Name: "span_server", Kind: cli.Text, Category: catServer, Arg: "HOST", Def: "127.0.0.1", Help: "host of the spanning_tree server"},
	{Name: "span_server_port", Kind: cli.Integer, Max: 65535, Category: catServer, Arg: "PORT", Def: "26543", Help: "its port"},
}, credentialFlags(catServer)...)

// Jobs are the options of `gvw jobs`.
var Jobs = append([]*cli.Spec{
	{Name: "all", Kind: cli.Boolean, Category: catOutput, Help: "also the jobs that have ended in the last 24 h, with how and why"},
	{Name: "watch", Kind: cli.Boolean, Category: catOutput, Help: "refresh the list every 2 s until interrupted"},
	{Name: "json", Kind: cli.Boolean, Category: catOutput, Help: "the whole status of the server, as JSON"},
	{Name: "logs", Kind: cli.Text, Category: catOutput, Arg: "JOB", Help: "instead: the last log lines of its ranks with --log_to_server, also after its end"},
	{Name: "rank", Kind: cli.Integer, Max: 1<<31 - 1, Category: catOutput, Arg: "R", Help: "with --logs: only this rank"},
	{Name: "lines", Kind: cli.Integer, Positive: true, Max: 1 << 20, Category: catOutput, Arg: "N", Def: "100", Help: "with --logs: last lines of each rank"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}, serverFlags...)

// Top are the options of `gvw top`.
var Top = append([]*cli.Spec{
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}, serverFlags...)

// Cancel are the options of `gvw cancel`.
var Cancel = append([]*cli.Spec{
	{Name: "reason", Kind: cli.Text, Category: catOther, Arg: "TEXT", Help: "reason that the ranks print"},
	{Name: "job_token", Kind: cli.Text, Category: catOther, Arg: "FILE", Help: "token of the job's ranks"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}, serverFlags...)

// catHadoop is the category of the options of gvw hadoop.
const catHadoop = "Hadoop job"

// Split are the options of `gvw hadoop split`.
var Split = []*cli.Spec{
	{Name: "maps", Kind: cli.Integer, Positive: true, Category: catHadoop, Arg: "N", Help: "maps that the job is to have"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// Slots are the options of `gvw hadoop slots`.
var Slots = []*cli.Spec{
	{Name: "maps", Kind: cli.Integer, Positive: true, Category: catHadoop, Arg: "N", Help: "maps that must run at once"},
	{Name: "map_mb", Kind: cli.Integer, Positive: true, Category: catHadoop, Arg: "MB", Help: "memory of a map; that of mapred-site.xml if left out"},
	{Name: "am_mb", Kind: cli.Integer, Positive: true, Category: catHadoop, Arg: "MB", Help: "memory of the ApplicationMaster, likewise"},
	{Name: "step_mb", Kind: cli.Integer, Positive: true, Category: catHadoop, Arg: "MB", Help: "unit of the memory of a container, likewise"},
	{Name: "rm", Kind: cli.Text, Category: catHadoop, Arg: "HOST:PORT", Help: "the ResourceManager over HTTP; that of yarn-site.xml if left out"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// catSupervise is the category of the options of gvw supervise.
const catSupervise = "Supervision"

// Supervise are the options of `gvw supervise`, before the "--".
var Supervise = []*cli.Spec{
	{Name: "max_restarts", Kind: cli.Integer, Max: 1000, Category: catSupervise, Arg: "N", Def: "3", Help: "restarts of a command that dies"},
	{Name: "quiet", Kind: cli.Boolean, Category: catSupervise, Help: "no message when the command is restarted"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// catSearch is the category of the options of gvw search.
const catSearch = "Search"

// Search are the options of `gvw search`, before the "--".
var Search = []*cli.Spec{
	{Name: "space", Kind: cli.Text, Category: catSearch, Arg: "SPACE", Help: "options to vary: 'l=log:0.01..10 b=int:16..20 power_t=0,0.5'"},
	{Name: "strategy", Kind: cli.Text, Category: catSearch, Arg: "HOW", Choices: []string{"random", "asha", "hyperband", "golden"}, Def: "random", Help: "which trials are made, and how long"},
	{Name: "trials", Kind: cli.Integer, Positive: true, Max: 1e6, Category: catSearch, Arg: "N", Def: "32", Help: "combinations of options to try"},
	{Name: "parallel", Kind: cli.Integer, Positive: true, Max: 1024, Category: catSearch, Arg: "N", Def: "1", Help: "trainings that run at the same time"},
	{Name: "seed", Kind: cli.Integer, Category: catSearch, Arg: "N", Def: "0", Help: "seed of the combinations"},
	{Name: "valid", Kind: cli.Text, Category: catSearch, Arg: "FILE", Repeat: true, Help: "examples on which trials are compared"},
	{Name: "holdout", Kind: cli.Boolean, Category: catSearch, Help: "compare them on the examples that their passes hold out"},
	{Name: "state", Kind: cli.Text, Category: catSearch, Arg: "FILE", Help: "journal of finished trainings, from which a search continues"},
	{Name: "resource", Kind: cli.Text, Category: catSearch, Arg: "WHAT", Choices: []string{"passes", "examples"}, Help: "what asha and hyperband give to a trial in parts; passes if there are several"},
	{Name: "max_resource", Kind: cli.Integer, Positive: true, Category: catSearch, Arg: "N", Help: "its greatest amount; that of the command if left out"},
	{Name: "min_resource", Kind: cli.Integer, Positive: true, Category: catSearch, Arg: "N", Help: "its least amount: 1 pass, 2 without --valid, or 1/ETA^3 of the examples if left out"},
	{Name: "eta", Kind: cli.Integer, Category: catSearch, Arg: "ETA", Def: "3", Max: 100, Positive: true, Help: "1/ETA of the trials get ETA times as much; 2 or more"},
	{Name: "tolerance", Kind: cli.Float, Positive: true, Category: catSearch, Arg: "X", Def: "0.01", Help: "relative size of the range at which golden ends"},
	{Name: "quiet", Kind: cli.Boolean, Category: catSearch, Help: "no line for each training"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// catMapper is the category of the options of gvw mapper.
const catMapper = "Map task"

// Mapper are the options of `gvw mapper`, before the "--".
var Mapper = []*cli.Spec{
	{Name: "log", Kind: cli.Text, Category: catMapper, Arg: "NAME", Help: "file beside the model for rank 0's log, if the job succeeds"},
	{Name: "phase", Kind: cli.Integer, Positive: true, Category: catMapper, Arg: "N", Help: "number of this call, if a task makes several: each is a separate run"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// credentialFlags returns the options for the credentials of a process. Each command shows them
// under a separate category.
func credentialFlags(category string) []*cli.Spec {
	return []*cli.Spec{
		{Name: "secret_file", Kind: cli.Text, Category: category, Arg: "FILE", More: true, Help: "secret of ranks and server; processes without it are refused"},
		{Name: "encrypt", Kind: cli.Boolean, Category: category, More: true, Help: "with --secret_file: TLS without certificates"},
		{Name: "tls_cert", Kind: cli.Text, Category: category, Arg: "FILE", More: true, Help: "this process's certificate: connections are TLS"},
		{Name: "tls_key", Kind: cli.Text, Category: category, Arg: "FILE", More: true, Help: "its key"},
		{Name: "tls_ca", Kind: cli.Text, Category: category, Arg: "FILE", More: true, Help: "certificate of the authority that has signed all of them"},
	}
}

// guardFlags are the options for access control that only ranks have.
var guardFlags = []*cli.Spec{
	{Name: "allow_vw", Kind: cli.Boolean, Category: catCluster, More: true, Help: "accept vw workers, which cannot prove their identity"},
	{Name: "allow", Kind: cli.Text, Category: catCluster, Arg: "CIDR,..", More: true, Help: "networks from which other ranks may connect"},
	{Name: "job_token", Kind: cli.Text, Category: catCluster, Arg: "FILE", More: true, Help: "FILE is needed to cancel the job"},
}

// Models are the options by which weights get names.
var Models = []*cli.Spec{
	{Name: "top", Kind: cli.Integer, Category: catInspect, Arg: "N", Def: "20", Help: "show the N largest; 0: none"},
	{Name: "data", Short: "d", Kind: cli.Text, Category: catInspect, Arg: "FILE", Repeat: true, Help: "take names, ranges and counts from these examples; repeatable"},
	dictionaryPath(catInspect),
	{Name: "format", Kind: cli.Text, Category: catInspect, Arg: "FORMAT", Choices: []string{"json", "csv", "libsvm"}, Help: "format of the examples; vw's text if left out"},
	{Name: "names", Kind: cli.Text, Category: catInspect, Arg: "FILE", Help: "names from the text of --invert_hash"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// dictionaryPath returns the option for the places of the dictionaries of a model, whose options have only their names.
func dictionaryPath(category string) *cli.Spec {
	return &cli.Spec{Name: "dictionary_path", Kind: cli.Text, Category: category, Arg: "DIR", Repeat: true, Help: "folders in which the dictionaries of the model are searched, besides the current one and those of PATH; repeatable"}
}

// catInspect is the category of the options of gvw inspect, gvw diff and gvw convert.
const catInspect = "Models"

// Splines are the options of `gvw splines`.
var Splines = []*cli.Spec{
	{Name: "data", Short: "d", Kind: cli.Text, Category: catInput, Arg: "FILE", Help: "data in vw's text; with -f it is read twice"},
	{Name: "knots", Kind: cli.Integer, Positive: true, Max: splines.MaxKnots, Category: catInput, Arg: "N", Def: "3", Help: "knots of a feature, each of which becomes a feature"},
	{Name: "final_regressor", Short: "f", Kind: cli.Text, Category: catOutput, Arg: "FILE", Help: "fit splines to the data, and write them"},
	{Name: "initial_regressor", Short: "i", Kind: cli.Text, Category: catInput, Arg: "FILE", Help: "use the splines of this file"},
	{Name: "predictions", Short: "p", Kind: cli.Text, Category: catOutput, Arg: "FILE", Def: "stdout", Help: "write the data with splines"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// Convert are the options of `gvw convert`.
var Convert = []*cli.Spec{
	{Name: "to", Kind: cli.Text, Category: catInspect, Arg: "FORM", Choices: []string{"binary", "text"}, Def: "binary", Help: "form of the new model: one to load, or its text"},
	{Name: "predict_only", Kind: cli.Boolean, Category: catInspect, Help: "leave out the state that further training needs"},
	{Name: "id", Kind: cli.Text, Category: catInspect, Arg: "TEXT", Help: "id of the new model; that of MODEL if left out"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}
