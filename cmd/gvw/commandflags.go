// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/gvw-project/gvw/allreduce/doctor"
	"github.com/gvw-project/gvw/allreduce/pipe"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/bench/collective"
)

// catTopo is the category of what gvw topo takes.
const catTopo = "What to draw"

// topoFlags are the options of `gvw topo`.
var topoFlags = []*spec{
	{name: "n", short: "n", kind: integer, positive: true, max: 1024, category: catTopo, arg: "N", help: "ranks, up to 1024"},
	{name: "schedule", kind: text, category: catTopo, arg: "NAME", choices: scheduleNames(), def: "auto", help: "who sends what to whom"},
	{name: "bytes", kind: integer, max: 1 << 40, category: catTopo, arg: "B", def: "1048576", help: "length of the vector, a multiple of 4"},
	{name: "rank", kind: integer, category: catTopo, arg: "R", help: "list the steps of this rank, too (ascii)"},
	{name: "format", kind: text, category: catTopo, arg: "HOW", choices: []string{"ascii", "dot", "svg"}, def: "ascii", help: "text, Graphviz or a picture"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

func scheduleNames() []string {
	names := []string{schedule.Auto.String()}
	for _, n := range schedule.Names {
		names = append(names, n.String())
	}
	return names
}

// catReduce is the category of what gvw allreduce does.
const catReduce = "Reduction"

// allreduceFlags are the options of `gvw allreduce`.
var allreduceFlags = append([]*spec{
	{name: "op", kind: text, category: catReduce, arg: "OP", choices: pipe.Ops, help: "what becomes of the vectors"},
	{name: "type", kind: text, category: catReduce, arg: "TYPE", choices: pipe.Types, def: "f64", help: "of the elements; text is for gather"},
	{name: "frames", kind: boolean, category: catReduce, help: "length-prefixed binary vectors, not lines"},
	{name: "quiet", kind: boolean, category: catReduce, help: "no talk but errors"},
}, append(clusterFlags("shard", "run_dir", "on_loss", "replace_timeout", "slow_factor", "checkpoint", "checkpoint_every", "resume", "elastic"), &spec{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"})...)

// clusterFlags are the learner's options of the cluster, but some.
func clusterFlags(but ...string) []*spec {
	var out []*spec
	for _, s := range learnFlags {
		leave := s.category != catCluster
		for _, name := range but {
			leave = leave || s.name == name
		}
		if !leave {
			out = append(out, s)
		}
	}
	return out
}

// catBench is the category of what gvw bench takes.
const catBench = "What to measure"

// benchFlags are the options of `gvw bench allreduce`.
var benchFlags = []*spec{
	{name: "ranks", short: "n", kind: integer, positive: true, max: 4096, category: catBench, arg: "N", def: "4", help: "processes that take part"},
	{name: "transport", kind: text, category: catBench, arg: "HOW", choices: collective.Transports, def: "tcp", help: "loopback sockets, shared memory, channels in one process, or an RDMA device"},
	{name: "sizes", kind: text, category: catBench, arg: "A,B,...", def: "4,65536,1048576,16777216", help: "bytes of a vector, multiples of 4"},
	{name: "schedule", kind: text, category: catBench, arg: "NAME", choices: append([]string{"all"}, collective.Schedules()...), def: "auto", help: "who sends what to whom; all: each in turn"},
	{name: "checksum", kind: text, category: catBench, arg: "on|off", choices: []string{"on", "off"}, def: "on", help: "CRC-32C of each chunk, as in training"},
	{name: "alloc", kind: boolean, category: catBench, help: "with --transport shm or verbs: vectors from allreduce.Alloc too"},
	{name: "secret", kind: boolean, category: catBench, help: "with a secret too, that is drawn for it"},
	{name: "tls", kind: boolean, category: catBench, help: "over TLS too, with certificates that are made for it"},
	{name: "rounds", kind: integer, positive: true, max: 1000, category: catBench, arg: "R", def: "3", help: "turns of each system"},
	{name: "per_size", kind: duration, category: catBench, arg: "T", def: "0.3s", help: "time for one size in one round"},
	{name: "peers", kind: boolean, category: catBench, help: "Open MPI, MPICH, XGBoost and vw beside ours"},
	{name: "python", kind: text, category: catBench, arg: "PROGRAM", def: "python3", help: "an interpreter with xgboost and vowpalwabbit"},
	{name: "netns", kind: boolean, category: catBench, help: "in a fresh network namespace (Linux)"},
	{name: "trace_dir", kind: text, category: catBench, arg: "DIR", help: "for execution traces of our ranks that wait for long"},
	{name: "json", kind: boolean, category: catBench, help: "one JSON object a line for each figure"},
	{name: "quiet", kind: boolean, category: catBench, help: "do not say whose turn it is"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

// catDoctor is the category of what gvw doctor takes.
const catDoctor = "Examination"

// doctorFlags are the options of `gvw doctor`.
var doctorFlags = append([]*spec{
	{name: "workers", short: "n", kind: integer, positive: true, max: doctor.MaxRanks, category: catDoctor, arg: "N", help: "ranks on this machine, with a server of their own"},
	{name: "patience", kind: duration, positive: true, category: catDoctor, arg: "T", def: "5s", help: "time for a rank to answer"},
	{name: "verbs", kind: boolean, category: catDoctor, help: "the RDMA devices of this machine, and nothing else"},
	{name: "quiet", kind: boolean, category: catDoctor, help: "no table: only what is wrong"},
}, append(clusterFlags("shard", "run_dir", "checkpoint", "checkpoint_every", "resume", "schedule", "checksum", "heartbeat", "lost_after", "server_timeout", "stall_timeout", "on_loss", "elastic", "replace_timeout", "slow_factor", "transport", "verbs_device", "trace_dir", "allow", "allow_vw", "job_token"), &spec{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"})...)

// catKeygen is the category of what gvw keygen takes.
const catKeygen = "Keys"

// keygenFlags are the options of `gvw keygen`.
var keygenFlags = []*spec{
	{name: "secret", kind: text, category: catKeygen, arg: "FILE", help: "draw a secret, for --secret_file or --job_token"},
	{name: "dir", kind: text, category: catKeygen, arg: "DIR", help: "make an authority and certificates in a new folder"},
	{name: "hosts", kind: text, category: catKeygen, arg: "A,B,..", help: "names and addresses of the server, beside localhost"},
	{name: "days", kind: integer, positive: true, max: 3650, category: catKeygen, arg: "N", def: "365", help: "how long certificates hold"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

// catServer is the category of where a server is.
const catServer = "Server"

// serverFlags say which server is asked.
var serverFlags = append([]*spec{
	{name: "span_server", kind: text, category: catServer, arg: "HOST", def: "127.0.0.1", help: "host of the spanning_tree server"},
	{name: "span_server_port", kind: integer, max: 65535, category: catServer, arg: "PORT", def: "26543", help: "its port"},
}, credentialFlags(catServer)...)

// jobsFlags are the options of `gvw jobs`.
var jobsFlags = append([]*spec{
	{name: "all", kind: boolean, category: catOutput, help: "also the jobs that have ended in the last 24 h, with how and why"},
	{name: "watch", kind: boolean, category: catOutput, help: "refresh the list every 2 s until interrupted"},
	{name: "json", kind: boolean, category: catOutput, help: "all that the server knows, as JSON"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}, serverFlags...)

// cancelFlags are the options of `gvw cancel`.
var cancelFlags = append([]*spec{
	{name: "reason", kind: text, category: catOther, arg: "TEXT", help: "what the ranks are told"},
	{name: "job_token", kind: text, category: catOther, arg: "FILE", help: "that the job's ranks were given"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}, serverFlags...)

// catHadoop is the category of what gvw hadoop takes.
const catHadoop = "Hadoop job"

// splitFlags are the options of `gvw hadoop split`.
var splitFlags = []*spec{
	{name: "maps", kind: integer, positive: true, category: catHadoop, arg: "N", help: "maps that the job is to have"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

// slotsFlags are the options of `gvw hadoop slots`.
var slotsFlags = []*spec{
	{name: "maps", kind: integer, positive: true, category: catHadoop, arg: "N", help: "maps that must run at once"},
	{name: "map_mb", kind: integer, positive: true, category: catHadoop, arg: "MB", help: "memory of a map; that of mapred-site.xml if left out"},
	{name: "am_mb", kind: integer, positive: true, category: catHadoop, arg: "MB", help: "memory of the ApplicationMaster, likewise"},
	{name: "step_mb", kind: integer, positive: true, category: catHadoop, arg: "MB", help: "containers are multiples of it, likewise"},
	{name: "rm", kind: text, category: catHadoop, arg: "HOST:PORT", help: "the ResourceManager over HTTP; that of yarn-site.xml if left out"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

// catSupervise is the category of what gvw supervise takes.
const catSupervise = "Supervision"

// superviseFlags are the options of `gvw supervise`, before the "--".
var superviseFlags = []*spec{
	{name: "max_restarts", kind: integer, max: 1000, category: catSupervise, arg: "N", def: "3", help: "new starts of a command that dies"},
	{name: "quiet", kind: boolean, category: catSupervise, help: "do not say that the command is started again"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

// catMapper is the category of what gvw mapper takes.
const catMapper = "Map task"

// mapperFlags are the options of `gvw mapper`, before the "--".
var mapperFlags = []*spec{
	{name: "log", kind: text, category: catMapper, arg: "NAME", help: "rank 0's log, beside the model, if the job succeeds"},
	{name: "phase", kind: integer, positive: true, category: catMapper, arg: "N", help: "of several calls in one task: each phase is a run of its own"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

// credentialFlags say what this process shows to the server and asks of it.
func credentialFlags(category string) []*spec {
	return []*spec{
		{name: "secret_file", kind: text, category: category, arg: "FILE", more: true, help: "what ranks and server share: who lacks it is kept out"},
		{name: "encrypt", kind: boolean, category: category, more: true, help: "with --secret_file: TLS without certificates"},
		{name: "tls_cert", kind: text, category: category, arg: "FILE", more: true, help: "this process's certificate: connections are TLS"},
		{name: "tls_key", kind: text, category: category, arg: "FILE", more: true, help: "its key"},
		{name: "tls_ca", kind: text, category: category, arg: "FILE", more: true, help: "certificate of the authority that has signed all of them"},
	}
}

// guardFlags are a rank's own.
var guardFlags = []*spec{
	{name: "allow_vw", kind: boolean, category: catCluster, more: true, help: "work with vw workers, who can prove nothing, all the same"},
	{name: "allow", kind: text, category: catCluster, arg: "CIDR,..", more: true, help: "networks from which other ranks may connect"},
	{name: "job_token", kind: text, category: catCluster, arg: "FILE", more: true, help: "only who has FILE can cancel the job"},
}

// nameFlags are the options by which weights get names.
var nameFlags = []*spec{
	{name: "top", kind: integer, category: catInspect, arg: "N", def: "20", help: "show the N largest; 0: none"},
	{name: "data", short: "d", kind: text, category: catInspect, arg: "FILE", repeat: true, help: "names, ranges and counts from examples; repeatable"},
	{name: "format", kind: text, category: catInspect, arg: "FORMAT", choices: []string{"json", "csv", "libsvm"}, help: "of the examples, if they are not vw's text"},
	{name: "names", kind: text, category: catInspect, arg: "FILE", help: "names from the text of --invert_hash"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

const catInspect = "Models"

// convertFlags are the options of `gvw convert`.
var convertFlags = []*spec{
	{name: "to", kind: text, category: catInspect, arg: "FORM", choices: []string{"binary", "text"}, def: "binary", help: "a model to load, or its text"},
	{name: "predict_only", kind: boolean, category: catInspect, help: "leave out what training would need to go on"},
	{name: "id", kind: text, category: catInspect, arg: "TEXT", help: "give it another id"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}
