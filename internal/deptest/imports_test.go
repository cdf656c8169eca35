// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// bottom are the packages that every package may import. They import only each other.
var bottom = []string{"internal/crc32c", "internal/fault", "internal/invariant", "internal/fmath", "internal/mem", "internal/merand", "internal/clock", "internal/plain", "internal/tempname", "internal/logformat", "internal/members", "internal/timeline", "internal/monitor/events", "internal/monitor/ranklog", "internal/monitor/traffic", "internal/wire", "option"}

// wires are the packages that collectives and the server have in common: schedules, transports,
// addresses and credentials.
var wires = []string{"allreduce/schedule", "allreduce/topo", "allreduce/transport", "allreduce/address", "allreduce/auth"}

// layer has the packages of this module that a package may import. The row with the longest
// matching pkg counts, and every package needs one. A name stands for a package and all below
// it; "=x" is package x only. Tests may import more: see ourFault.
type layer struct {
	pkg string
	may []string
	why string // reason for excluding the others
}

var layers = []layer{
	{"option", nil, "a type of settings is below every Config that has it"},
	{"internal/crc32c", nil, "the bottom: a checksum is a function of bytes"},
	{"internal/fault", bottom, "the bottom: every package may import it, so it imports none above the bottom"},
	{"internal/invariant", bottom, "the bottom: every package may import it, so it imports none above the bottom"},
	{"internal/fmath", bottom, "the bottom: every package may import it, so it imports none above the bottom"},
	{"internal/merand", bottom, "the bottom: every package may import it, so it imports none above the bottom"},
	{"internal/mem", bottom, "the bottom: every package may import it, so it imports none above the bottom"},
	{"internal/plain", bottom, "the bottom: every package that prints text of another process escapes it"},
	{"internal/tempname", bottom, "the bottom: file systems and caches name their temporary files alike"},
	{"internal/members", bottom, "the bottom: the ranks of an epoch are a value, for messages as well as for trees"},
	{"internal/wire", bottom, "the bottom: messages of every package are coded with it, whatever they mean"},
	{"internal/timeline", []string{"internal/timeline/offset"}, "the bottom: collectives write timelines, and commands put them together"},
	{"internal/timeline/offset", nil, "an estimate from numbers needs no timeline and no connection"},
	{"internal/monitor/events", nil, "the bottom: collectives, the client and checkpoints record events; the server judges them"},
	{"internal/monitor/ranklog", []string{"internal/plain", "internal/logformat"}, "the bottom: ranks queue lines, the server keeps them"},
	{"internal/monitor/traffic", nil, "the bottom: collectives and shared vectors count; the server adds up, the page and metrics show"},
	{"internal/monitor/cause", slices.Concat(bottom, []string{"internal/monitor/events"}), "a cause is a function of evidence: no job, no server"},
	{"internal/clock", bottom, "the bottom: the server, its clients and the collectives measure silence with it"},

	{"loss", bottom, "losses depend on predictions and labels, not on examples or learners"},
	{"feature", slices.Concat(bottom, []string{"feature"}), "it parses text to features; learning is above it"},
	{"allreduce/topo", bottom, "a tree is a value, useful without a network"},
	{"allreduce/transport", slices.Concat(bottom, []string{"allreduce/transport"}), "drivers move bytes; schedules, the server and jobs are above them"},
	{"allreduce/auth", bottom, "authentication does not depend on the messages that follow"},
	{"allreduce/auth/authtest", []string{"allreduce/auth"}, "credentials for the tests of other packages"},
	{"allreduce/address", slices.Concat(bottom, []string{"allreduce/transport"}), "addresses to listen on and to advertise, without a job"},
	{"allreduce/schedule", slices.Concat(bottom, []string{"allreduce/topo"}), "a schedule is a pure machine over a topology: it must run without a network"},

	{"internal/simulate", slices.Concat(bottom, []string{"allreduce/topo", "allreduce/schedule"}), "a simulation is a function of its configuration: schedules take part in it, connections do not"},
	{"internal/simulate/straggler", nil, "the times of passes are a function of a table of hosts"},
	{"internal/simulate/job", slices.Concat(bottom, []string{"internal/monitor/events", "internal/spantree/core", "internal/spantree/protocol"}), "the machine of the server takes part in a simulation, the server does not"},

	{"internal/kernels", bottom, "arithmetic on bytes needs no rank"},
	{"internal/link", slices.Concat(bottom, []string{"allreduce/auth", "internal/link/upgrade"}), "a stream of frames between two ranks needs no collective: MALT uses it without allreduce and its engine"},
	{"internal/link/upgrade", nil, "the upgrade of a link is a pure machine: no socket, no memory"},
	{"internal/link/netconn", slices.Concat(bottom, []string{"=internal/link"}), "a driver moves the bytes of links, independent of other drivers and of the contents"},
	{"internal/link/poll", slices.Concat(bottom, []string{"=internal/link", "internal/shm", "allreduce/transport", "allreduce/verbs"}), "a driver moves the bytes of links, independent of other drivers and of the contents"},
	{"internal/link/vwstream", slices.Concat(bottom, []string{"=internal/link", "internal/link/netconn", "allreduce/topo", "allreduce/schedule"}), "vw's stream needs no job"},
	{"internal/shm", slices.Concat(bottom, []string{"internal/kernels", "allreduce/transport", "allreduce/topo", "allreduce/schedule"}), "memory that the ranks of a host share needs no job: MALT uses it without allreduce and its engine"},
	{"allreduce/internal/engine", slices.Concat(bottom, wires, []string{"internal/link", "internal/shm", "internal/kernels", "internal/spantree/protocol", "internal/spantree/client", "allreduce/verbs"}), "collectives over the connections of one epoch need neither jobs nor recovery"},
	{"allreduce/internal/rdma", slices.Concat(bottom, []string{"allreduce/verbs"}), "the device of a rank needs neither ranks nor a job"},
	{"allreduce/internal/rootcause", slices.Concat(bottom, wires, []string{"allreduce/internal/engine", "internal/spantree/protocol", "internal/spantree/client"}), "the search for a cause needs the server by an interface, and no connection"},
	{"allreduce/internal/epoch", slices.Concat(bottom, wires, []string{"internal/link", "internal/shm", "internal/mesh", "internal/kernels", "allreduce/internal/engine", "allreduce/internal/rdma", "allreduce/internal/rootcause", "allreduce/internal/samehost", "internal/spantree/protocol", "internal/spantree/client", "allreduce/verbs"}), "an epoch needs neither the steps of the job nor their recovery"},
	{"allreduce/internal/samehost", slices.Concat(bottom, []string{"internal/shm", "internal/kernels"}), "the caller carries out the all-reduces by which ranks agree"},
	{"internal/spantree/protocol", slices.Concat(bottom, wires), "frames, records and their types do not depend on the rules of jobs"},
	{"internal/spantree/edges", slices.Concat(bottom, []string{"internal/spantree/protocol"}), "the decision on an edge is a function of a graph: it needs no job"},
	{"internal/spantree/resume", slices.Concat(bottom, []string{"internal/spantree/protocol"}), "where an epoch starts is a function of its members: it needs no job"},
	{"internal/spantree/retry", nil, "a budget of epochs counts numbers: it needs no job"},
	{"internal/spantree/history", slices.Concat(bottom, []string{"internal/spantree/protocol"}), "tables of ended jobs need no running one"},
	{"internal/spantree/core", slices.Concat(bottom, wires, []string{"internal/spantree/protocol", "internal/spantree/edges", "internal/spantree/resume", "internal/spantree/retry", "internal/spantree/history", "internal/monitor/cause"}), "the rules are a pure machine: no socket, no file, no clock"},
	{"internal/spantree/client", slices.Concat(bottom, wires, []string{"internal/spantree/protocol"}), "a rank depends on the server only by the protocol"},
	{"internal/spantree/server", slices.Concat(bottom, wires, []string{"internal/spantree/protocol", "internal/spantree/core", "internal/monitor/cause"}), "sockets and the journal around the machine; groups use it only by the protocol"},
	{"allreduce/internal/recovery", slices.Concat(bottom, wires, []string{"internal/link", "internal/mesh", "allreduce/internal/engine", "internal/spantree/protocol", "internal/spantree/client"}), "steps and their recovery use a group by an interface"},
	{"internal/mesh", slices.Concat(bottom, wires, []string{"internal/spantree/protocol", "internal/spantree/client"}), "the connections of an epoch serve any user of a job: no collective, and not allreduce's root"},
	{"allreduce/verbs", slices.Concat(bottom, wires, []string{"allreduce/verbs"}), "a driver like the others; its fabric for tests imports it"},

	{
		"optim", slices.Concat(bottom, []string{"optim", "loss", "feature"}),
		"optim never imports allreduce: an Objective returns sums that are already reduced, so solvers are tested on one process against gonum, and a cluster run equals that run",
	},
	{
		"allreduce", slices.Concat(bottom, wires, []string{"internal/rankenv", "internal/link", "internal/shm", "internal/mesh", "internal/kernels", "allreduce/internal", "internal/spantree/protocol", "internal/spantree/client", "allreduce/verbs"}),
		"collectives are useful without a learner: nothing here may know what is learned",
	},
	{"allreduce/doctor", slices.Concat(bottom, wires, []string{"internal/spantree/protocol", "internal/spantree/client"}), "it examines the network below a group, and needs no group"},
	{"allreduce/pipe", slices.Concat(bottom, wires, []string{"=allreduce", "internal/vectorio"}), "it reduces vectors from a stream through the public API"},

	{"hdfsio", bottom, "file systems do not depend on the contents of files"},
	{"hdfsio/siteconf", nil, "Hadoop's site files are read without any client"},
	{"hdfsio/token", nil, "a format needs none of its users"},
	{"hdfsio/remote", []string{"=hdfsio"}, "the parts that remote file systems share need none of them"},
	{"hdfsio/kerberos", nil, "a login does not depend on what it opens"},
	{"hdfsio/native", []string{"=hdfsio", "hdfsio/kerberos", "hdfsio/remote"}, "a client for HDFS does not depend on the others"},
	{"hdfsio/webhdfs", []string{"=hdfsio", "hdfsio/kerberos", "hdfsio/remote"}, "a client for HDFS does not depend on the others"},
	{"hdfsio/web", []string{"=hdfsio", "hdfsio/remote"}, "a client for web servers does not depend on the others"},
	{"hdfsio/s3", []string{"=hdfsio", "hdfsio/remote", "hdfsio/web"}, "S3 is a protocol above HTTP"},
	{"hdfsio/pipe", []string{"=hdfsio", "hdfsio/remote"}, "a client for HDFS does not depend on the others"},
	{"hdfsio/hdfs", []string{"=hdfsio", "hdfsio/kerberos", "hdfsio/native", "hdfsio/webhdfs", "hdfsio/pipe", "hdfsio/remote", "hdfsio/siteconf", "hdfsio/token"}, "it chooses among the clients for HDFS, so it imports all of them"},
	{"hdfsio/fstest", []string{"=hdfsio"}, "tests for all file systems use only the interface"},
	{"internal/webtest", []string{"=hdfsio"}, "tests of files on web servers use only the interface"},
	{"model", slices.Concat(bottom, []string{"optim", "loss", "feature"}), "model files are read and written without a cluster"},
	{"model/inspect", slices.Concat(bottom, []string{"=model", "feature"}), "it describes the contents of a model for users"},
	{"model/topics", slices.Concat(bottom, []string{"=model", "feature"}), "it describes topics without reading files or learning"},
	{"malt/graph", slices.Concat(bottom, []string{"allreduce/topo"}), "a graph is a value: it must be drawn and checked without a network"},
	{"malt/internal/mailbox", slices.Concat(bottom, []string{"internal/shm"}), "a queue in memory needs no ranks"},
	{"malt/internal/pace", slices.Concat(bottom, []string{"malt/graph"}), "the rules of synchrony are a pure machine over a graph"},
	{"malt/internal/monitor", bottom, "when a connection counts as broken is a pure machine over what is observed"},
	{"malt/internal/snapshot", bottom, "it encodes the state of vectors for another rank, without a network"},
	{"malt/internal/pack", slices.Concat(bottom, []string{"internal/kernels"}), "it encodes values as bytes, without a network"},
	{"malt/internal/carrier", slices.Concat(bottom, wires, []string{"internal/link", "internal/mesh", "internal/members", "malt/graph", "malt/internal/pace", "malt/internal/mailbox"}), "it sends the updates of one epoch over its links or to mailboxes; it needs neither their values nor a job"},
	{"malt/internal/rdmawrite", slices.Concat(bottom, []string{"allreduce/verbs", "malt/internal/carrier"}), "it gives a carrier memory on other machines, and needs no ranks"},
	{"malt/internal/samehost", slices.Concat(bottom, []string{"internal/shm", "malt/internal/carrier", "malt/internal/mailbox"}), "it gives a carrier shared memory, and needs no ranks"},
	{"malt/internal/access", slices.Concat(bottom, wires, []string{"allreduce/verbs", "malt/internal/carrier", "malt/internal/rdmawrite", "malt/internal/samehost"}), "the way into the memory of a rank follows from addresses and devices, without a job"},
	{"malt", slices.Concat(bottom, wires, []string{"malt", "=hdfsio", "allreduce/verbs", "internal/rankenv", "internal/mesh", "internal/members", "internal/spantree/protocol", "internal/spantree/client"}), "shared vectors are useful without a learner, and need the connections of a job, not its collectives"},
	{"malt/pipe", slices.Concat(bottom, wires, []string{"=malt", "internal/vectorio"}), "pipes need shared vectors, and no part below them"},
	{
		"learn", slices.Concat(bottom, wires, []string{"learn", "model", "hdfsio", "optim", "allreduce", "malt", "loss", "feature", "internal/maltjob", "internal/compat", "internal/hadoop", "internal/launch", "internal/status"}),
		"the training loop imports the packages below it; none of them imports it",
	},

	{"internal/splines", nil, "it turns text into text, and needs no learner"},
	{"internal/cli", slices.Concat(bottom, []string{"internal/compat"}), "the command line and the process, independent of any command"},
	{"internal/flags", slices.Concat(bottom, wires, []string{"internal/cli", "internal/compat", "internal/splines", "=allreduce", "allreduce/doctor", "allreduce/pipe", "bench/collective", "hdfsio/hdfs", "=learn", "learn/metric", "learn/nn", "model/topics", "malt/graph", "malt/pipe", "=optim", "optim/ftrl"}), "tables of options need the values that libraries accept, but no command"},
	{"internal/files", slices.Concat(bottom, []string{"internal/record", "internal/cli", "internal/flags", "internal/launch", "=hdfsio", "hdfsio/hdfs", "hdfsio/remote", "hdfsio/s3", "hdfsio/siteconf", "hdfsio/web", "feature/parquet", "=learn"}), "options that name files become file systems, inputs and outputs, for any command"},
	{"internal/joinflags", slices.Concat(bottom, wires, []string{"internal/cli", "internal/flags", "internal/files", "internal/launch", "internal/spantree/protocol", "internal/maltjob", "=allreduce", "=malt", "malt/graph", "allreduce/verbs"}), "the learner, gvw malt, gvw allreduce and gvw doctor join a job with the same options; the protocol has the rule of elastic jobs"},
	{"internal/background", nil, "a process in the background depends on no server"},
	{"internal/serve/engine", slices.Concat(bottom, []string{"feature", "=learn"}), "answers to lines depend on no protocol"},
	{"internal/serve/daemon", slices.Concat(bottom, []string{"internal/serve/engine"}), "vw's socket protocol around the engine: it needs no learner and no other protocol"},
	{"internal/httpauth", nil, "tokens admit requests to any HTTP server"},
	{"internal/httpserve", nil, "the end of an HTTP server depends on no handler"},
	{"internal/monitor/history", slices.Concat(bottom, []string{"internal/spantree/protocol"}), "it is pure: snapshots go in, and histories come out"},
	{"internal/monitor/metrics", slices.Concat(bottom, []string{"internal/spantree/protocol"}), "metrics are a view of a snapshot: they need neither a server nor a page"},
	{"internal/monitor/page", slices.Concat(bottom, []string{"internal/spantree/protocol", "internal/monitor/history", "allreduce/topo"}), "the handler gets snapshots by a function: it needs neither a server nor a token"},
	{"internal/monitor/site", slices.Concat(bottom, []string{"allreduce/auth", "internal/httpauth", "internal/httpserve", "internal/monitor"}), "it listens for the page, whatever the source of its snapshots"},
	{"internal/serve/web", slices.Concat(bottom, []string{"internal/serve/engine", "internal/httpauth", "internal/httpserve"}), "HTTP around the engine: it needs no learner and no other protocol"},
	{
		"internal/train", slices.Concat(bottom, wires, []string{"internal/record", "internal/otlp", "internal/background", "internal/httpserve", "internal/serve/engine", "internal/serve/daemon", "internal/serve/web", "internal/cli", "internal/compat", "internal/flags", "internal/files", "internal/joinflags", "internal/launch", "internal/statusline", "internal/checkpoint", "internal/rundir", "internal/spantree/protocol", "=allreduce", "feature", "hdfsio", "learn", "model"}),
		"the learner as a command uses a launcher by an interface",
	},
	{
		"internal/run", slices.Concat(bottom, wires, []string{"internal/record", "internal/cli", "internal/flags", "internal/files", "internal/joinflags", "internal/train", "internal/launch", "internal/statusline", "internal/crash", "internal/checkpoint", "internal/monitor", "internal/remote", "internal/run/dataorder", "internal/run/departure", "internal/site", "internal/spantree/protocol", "internal/spantree/client", "internal/spantree/server", "=allreduce", "feature", "hdfsio", "=learn"}),
		"the launcher divides the options of the learner, and runs a server and workers",
	},
	{"internal/run/dataorder", slices.Concat(bottom, []string{"feature", "hdfsio", "internal/files", "=learn"}), "the order of predictions is a function of the data and of the rule that divides it"},
	{"internal/run/departure", []string{"internal/spantree/protocol"}, "it asks a server in the same process, behind an interface"},
	{"internal/statusline", nil, "lines at the bottom of a terminal depend on nothing that they show"},
	{"internal/search/strategy", nil, "which trials a search makes is a function of seed and losses: no file, no process"},
	{"internal/search/journal", nil, "the format of a search's file: gvw plot reads it without the search"},
	{"internal/search", slices.Concat(bottom, []string{"internal/cli", "internal/flags", "internal/files", "internal/launch", "internal/run", "internal/train", "internal/search/journal", "internal/search/strategy"}), "a search starts this program for each trial; it needs no learner but its command line"},
	{"internal/programs", slices.Concat(bottom, wires, []string{"internal/cli", "internal/files", "internal/joinflags", "feature", "hdfsio", "learn", "malt", "optim/outer"}), "learners as commands need neither the linear learner as a command nor the launcher"},
	{"internal/mapper", slices.Concat(bottom, []string{"internal/cli", "internal/flags", "internal/files", "internal/train", "internal/launch", "internal/hadoop", "=allreduce", "hdfsio", "=learn"}), "a map task runs the learner by the contract of Hadoop Streaming"},
	{"internal/chart", nil, "pictures of values depend on nothing that has values"},
	{"internal/record", nil, "the events of a run depend on no part of it: all parts write them"},
	{"internal/report", []string{"internal/chart", "internal/record"}, "it is pure: records go in, and pages come out"},
	{"internal/otlp", []string{"internal/timeline"}, "traces go out by HTTP; what they mean is below"},
	{"internal/show", slices.Concat(bottom, []string{"internal/chart", "internal/record", "internal/report", "internal/search/journal", "=internal/tools", "=feature", "model/inspect", "internal/cli", "internal/files", "hdfsio", "=learn"}), "commands that draw read what runs have left, and take part in none"},
	{
		"internal/tools", slices.Concat(bottom, wires, []string{"internal/chart", "internal/cli", "internal/flags", "internal/files", "internal/joinflags", "internal/simulate", "internal/statusline", "internal/hadoop", "internal/spantree/protocol", "internal/spantree/client", "internal/spantree/server", "allreduce", "bench/collective", "feature", "hdfsio", "learn", "malt/graph", "model"}),
		"commands that do not train need neither the learner as a command nor the launcher",
	},
	{"internal/crash", nil, "only programs end processes; it needs no package of this module"},
	{"internal/hadoop", bottom, "for cmd and learn: the contract with a launcher does not depend on other packages"},
	{"internal/launch", bottom, "for cmd and learn: the contract with a launcher does not depend on other packages"},
	{"internal/remote", []string{"internal/cli", "internal/launch"}, "a worker on another machine is a process like any other: its connection needs no job"},
	{"internal/site", nil, "the place that a launcher gives is a function of variables"},
	{"internal/rankenv", []string{"allreduce/auth", "internal/spantree/protocol"}, "for the libraries that gvw run launches: the variables name a job, and read its secret"},
	{"internal/maltjob", slices.Concat(bottom, wires, []string{"=allreduce", "=malt"}), "it translates between two public configurations"},
	{"internal/vectorio", nil, "vectors on a stream depend on no job"},
	{"internal/checkpoint", slices.Concat(bottom, []string{"allreduce", "internal/spantree/protocol", "internal/spantree/client", "hdfsio"}), "a group writes its state by an interface that this package implements with files"},
	{"internal/rundir", slices.Concat(bottom, []string{"internal/spantree/protocol", "hdfsio"}), "files of a run for late attempts; the protocol has the digest of the options"},
	{"learn/internal/ldastage", slices.Concat(bottom, wires, []string{"feature", "model", "allreduce", "learn/internal/examples", "learn/internal/job", "learn/internal/snapshot", "learn/internal/tally", "learn/internal/training", "learn/internal/avgstage", "learn/lda", "model/topics", "optim/masgd"}), "a stage gets its settings and collaborators; it imports no Config and no run, reads rounds as averaging does, and validates as gvw topics measures"},
	{"learn/internal/batchstage", slices.Concat(bottom, wires, []string{"feature", "loss", "model", "optim", "allreduce", "learn/internal/examples", "learn/internal/job", "learn/internal/output", "learn/internal/snapshot", "learn/internal/tally", "learn/internal/training"}), "a stage gets its settings and collaborators; it imports no Config, no other stage and no run"},
	{"learn/internal/avgstage", slices.Concat(bottom, wires, []string{"feature", "loss", "model", "optim", "allreduce", "learn/internal/examples", "learn/internal/job", "learn/internal/sgdstage", "learn/internal/snapshot", "learn/internal/tally", "learn/internal/training"}), "it processes examples as SGD does, of which it needs the processor but no run"},
	{"learn/internal/delivery", slices.Concat(bottom, wires, []string{"allreduce", "learn/internal/job", "learn/internal/output"}), "files are delivered in the same way, whatever they contain"},
	{"learn/internal/modelsource", slices.Concat(bottom, wires, []string{"model", "learn/internal/job", "learn/internal/output", "learn/internal/tally", "learn/internal/training"}), "the models of a run need its sums and no Config"},
	{"learn/internal/examples", slices.Concat(bottom, []string{"feature"}), "the examples of a pass do not depend on the learner"},
	{"learn/internal/job", slices.Concat(bottom, wires, []string{"allreduce", "feature", "loss", "learn/internal/snapshot", "learn/internal/vwtext"}), "the exchange of records does not depend on the learner"},
	{"learn/internal/namespaces", slices.Concat(bottom, []string{"feature", "loss", "model", "optim", "learn/internal/examples", "learn/internal/usage"}), "options on namespaces do not depend on the rest of the Config"},
	{"learn/internal/usage", nil, "a fault is a value: every part of the configuration makes them"},
	{"learn/internal/output", slices.Concat(bottom, []string{"feature", "model", "optim", "learn/internal/vwtext"}), "output files do not depend on the job"},
	{"learn/internal/maltstage", slices.Concat(bottom, wires, []string{"feature", "loss", "malt", "optim", "=allreduce", "learn/internal/sgdstage", "learn/internal/snapshot", "learn/internal/training"}), "it adds shared vectors to the passes of SGD, of which it needs the stage but no run"},
	{"learn/internal/sgdstage", slices.Concat(bottom, wires, []string{"feature", "loss", "model", "optim", "allreduce", "learn/metric", "learn/internal/examples", "learn/internal/job", "learn/internal/output", "=learn/internal/reduction", "learn/internal/snapshot", "learn/internal/tally", "learn/internal/training", "learn/internal/vwtext"}), "a stage gets its settings and collaborators; it imports no Config, no other stage and no run"},
	{"learn/internal/reduction", slices.Concat(bottom, []string{"feature", "loss", "optim/sgd", "=learn/internal/reduction"}), "a learner is composed of linear ones: it needs no stage, no job and no other learner"},
	{"learn/internal/reductions", slices.Concat(bottom, []string{"learn/internal/reduction"}), "the table of learners imports all of them, and nothing else"},
	{"learn/internal/snapshot", bottom, "the encoding of a state does not depend on its contents"},
	{"learn/internal/tally", slices.Concat(bottom, wires, []string{"allreduce", "feature", "loss", "model", "learn/metric", "learn/internal/examples", "learn/internal/job", "learn/internal/output", "learn/internal/snapshot", "learn/internal/vwtext"}), "predictions are counted in the same way for all stages"},
	{"learn/internal/trainer", slices.Concat(bottom, wires, []string{"allreduce", "learn/internal/job", "learn/internal/output", "learn/internal/snapshot", "learn/internal/tally", "learn/internal/training", "learn/internal/usage"}), "the steps of a training do not depend on the stage that makes them"},
	{"learn/internal/training", slices.Concat(bottom, []string{"model", "optim"}), "the parts that stages share need no stage"},
	{"learn/internal/vwtext", slices.Concat(bottom, []string{"feature", "loss", "learn/metric", "learn/internal/snapshot"}), "vw's output format does not depend on the stage"},
	{"learn/factor", slices.Concat(bottom, []string{"learn/internal/modelbytes"}), "a model learns from one rating at a time: it needs no files, no job and no training loop"},
	{"learn/nn", slices.Concat(bottom, []string{"feature", "learn/internal/modelbytes"}), "a model learns from one example at a time: it needs no files, no job and no training loop"},
	{"learn/lda", slices.Concat(bottom, []string{"feature", "internal/kernels"}), "topics are learned from one batch of documents at a time: that needs no files, no job and no training loop"},
	{"learn/svm", slices.Concat(bottom, []string{"feature", "learn/internal/modelbytes"}), "a model learns from one example at a time: it needs no files, no job and no training loop"},
	{"learn/internal/modelbytes", []string{"internal/crc32c"}, "an encoding needs none of its models"},
	{"learn/internal/modeltest", nil, "tests of models get the model from its package"},
	{"learn/metric", bottom, "a metric depends on predictions and labels only"},
	{"internal/compat", nil, "the table of vw's options, for the command, its documentation and the options of models; it needs no package"},
	{"internal/status", slices.Concat(bottom, []string{"=allreduce"}), "for cmd and learn"},

	{
		"cmd", slices.Concat(bottom, wires, []string{"allreduce", "internal/spantree", "feature", "hdfsio", "learn", "loss", "malt", "model", "optim", "internal/background", "internal/monitor", "internal/checkpoint", "internal/cli", "internal/compat", "internal/crash", "internal/flags", "internal/files", "internal/joinflags", "internal/mapper", "internal/programs", "internal/remote", "internal/run", "internal/search", "internal/show", "internal/tools", "internal/train", "internal/hadoop", "internal/launch", "internal/manual", "internal/rundir", "internal/status", "bench/collective"}),
		"programs combine the packages; no package imports a program",
	},
	{"bench", slices.Concat(bottom, wires, []string{"allreduce", "internal/spantree", "bench/collective", "bench/internal", "feature", "hdfsio", "internal/simulate", "learn", "loss", "malt", "model", "optim"}), "programs that measure the product"},
	{
		"bench/collective", slices.Concat(bottom, wires, []string{"allreduce", "internal/spantree", "internal/launch"}),
		"a library, since gvw bench is a command of the product; it starts ranks as any launcher does",
	},
	{"quickstart", []string{"feature", "model", "=quickstart"}, "small programs that show how to use files and models"},
	{"examples", []string{"=malt"}, "programs as users of the libraries write them"},
	{"tests", []string{"tests"}, "end-to-end tests run the programs as a user does"},
	{"internal/deps", nil, "a tool of the project, not of the product"},
	{"internal/release", []string{"internal/manual", "internal/cli"}, "a tool of the project: packages have the manual"},
	{"internal/manual", []string{"internal/cli"}, "the manual is a function of tables of options"},
	{"internal/testsum", nil, "a tool of the project, not of the product"},
	{"internal/typecheck", nil, "a tool of the project, not of the product"},
	{"internal/datasets", nil, "tests of all packages find data sets, so it imports none of them"},
	{"internal/deptest", nil, "a tool of the project, not of the product"},
}

// foreign has the packages that may import another module, or a package of the standard library
// that is allowed in few places.
type foreign struct {
	path string
	may  []string // nil: only tests
	why  string
}

var foreigners = []foreign{
	{"github.com/colinmarc/hdfs", []string{"hdfsio/native"}, "one package implements HDFS's native protocols, behind one FS interface"},
	{"github.com/jcmturner/gokrb5", []string{"hdfsio/kerberos", "hdfsio/native", "hdfsio/webhdfs"}, "these clients log in by Kerberos"},
	{"github.com/klauspost/compress", []string{"hdfsio", "feature/cache", "feature/parquet", "feature/stream"}, "only packages that read or write stored files need compression"},
	{"gonum.org/v1/gonum", []string{"optim", "allreduce", "learn", "malt/graph"}, "kernels for vectors, and DOT files of graphs; formulas whose results must have fixed bits are in this module"},
	{"golang.org/x/sys", []string{"internal/shm", "hdfsio", "feature", "feature/cache", "internal/mem", "internal/launch", "internal/kernels", "internal/spantree/server", "allreduce", "optim/sgd", "internal/crc32c", "internal/joinflags", "internal/tools", "internal/statusline", "internal/background", "internal/serve/daemon", "internal/search", "malt/internal/rdmawrite", "cmd"}, "system calls stay in the outer packages; kernels query the features of the processor; a rank waits for its RDMA device"},
	{"github.com/prometheus/client_golang", []string{"internal/monitor/metrics", "internal/serve/web"}, "two packages present metrics to Prometheus: the status of a server of jobs, and the counters of a server of models"},
	{"github.com/vbauerster/mpb/v8", []string{"internal/statusline"}, "one package draws bars and moves the cursor of a terminal"},
	{"github.com/mattn/go-runewidth", []string{"internal/statusline"}, "it counts the columns of a text as mpb does"},
	{"github.com/aws/aws-sdk-go-v2", []string{"hdfsio/s3"}, "it signs requests"},
	{"github.com/johannesboyne/gofakes3", nil, "for tests: a server of S3"},
	{"go.opentelemetry.io", []string{"internal/otlp"}, "one package sends traces"},
	{"git.sr.ht/~sbinet/gg", []string{"internal/chart"}, "one package draws on pixels"},
	{"golang.org/x/image", []string{"internal/chart"}, "the fonts of these pictures"},
	{"google.golang.org/protobuf", []string{"internal/otlp"}, "OTLP is protocol buffers"},
	{"github.com/google/rpmpack", []string{"internal/release"}, "it writes the RPM packages of a release"},
	{"github.com/google/go-cmp", nil, "for tests"},
	{"github.com/rogpeppe/go-internal", nil, "for tests"},
	{"github.com/twmb/murmur3", nil, "for tests: the oracle of feature's hash"},
	{"pgregory.net/rapid", nil, "for tests"},
}

// special are the packages of the standard library that are allowed in few places.
var special = []foreign{
	{"C", []string{"allreduce/verbs"}, "only verbs needs cgo, behind the build tag rdma: everything else cross-compiles"},
	{"unsafe", []string{"=allreduce", "internal/kernels", "internal/shm", "allreduce/transport", "internal/mem", "allreduce/verbs", "malt/internal/rdmawrite"}, "two packages view memory as bytes and are tested for it, two hand buffers to the system, one talks to C; the rest is memory-safe by construction"},
	{"log", nil, "library packages log to an injected slog.Logger"},
	{"math/rand", nil, "randomness comes from seeded math/rand/v2 generators, the same on every machine"},
}

// faults returns the reason why a package must not import path, or "" if it may.
func faults(pkg, path string, test bool) string {
	if rel, ours := strings.CutPrefix(path, module+"/"); ours {
		return ourFault(pkg, rel, test)
	}
	for _, f := range slices.Concat(foreigners, special) {
		if path == f.path || !std(f.path) && within(path, f.path) {
			if test && f.path != "C" || withinAny(pkg, f.may) {
				return ""
			}
			if f.may == nil {
				return "only tests may: " + f.why
			}
			return "only " + strings.Join(f.may, ", ") + " may: " + f.why
		}
	}
	if !std(path) {
		return "no row of the table names this module: say who may import it and why"
	}
	return ""
}

// std reports whether the import path is the standard library's: its first
// element is not a host name.
func std(path string) bool {
	host, _, _ := strings.Cut(path, "/")
	return !strings.Contains(host, ".")
}

// ourFault returns the reason why a package must not import package rel of this module, or "".
// A test may import any, except that tests of optim must not need collectives.
func ourFault(pkg, rel string, test bool) string {
	l, ok := layerOf(pkg)
	switch {
	case !ok:
		return "no layer holds package " + pkg + ": give it a row in the table"
	case rel == pkg, withinAny(rel, l.may):
		return ""
	case test && within(pkg, "optim") && within(rel, "allreduce"):
		return l.why
	case test:
		return "" // a test may use neighbours as examples and oracles
	}
	return l.why
}

// layerOf returns the row with the longest prefix of pkg.
func layerOf(pkg string) (layer, bool) {
	best, found := layer{}, false
	for _, l := range layers {
		if within(pkg, l.pkg) && len(l.pkg) >= len(best.pkg) {
			best, found = l, true
		}
	}
	return best, found
}

func TestImportsFollowTheTable(t *testing.T) {
	for _, s := range allSources(t) {
		for _, spec := range s.file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if why := faults(s.dir, path, s.test); why != "" {
				t.Errorf("%s:%d: %s imports %s: %s", s.path, s.line(spec.Pos()), s.dir, path, why)
			}
		}
	}
}

// TestTheTable checks imports that the table must allow or forbid.
func TestTheTable(t *testing.T) {
	for _, c := range []struct {
		pkg, path string
		test      bool
		ok        bool
	}{
		{"optim/sgd", module + "/loss", false, true},
		{"optim/sgd", module + "/allreduce", false, false},
		{"optim/lbfgs", module + "/allreduce/topo", true, false},
		{"optim/lbfgs", module + "/learn", true, true},
		{"feature", module + "/optim", false, false},
		{"feature/stream", module + "/feature/cache", false, true},
		{"allreduce", module + "/internal/spantree/client", false, true},
		{"internal/spantree/server", module + "/allreduce", false, false},
		{"allreduce/topo", module + "/allreduce/schedule", false, false},
		{"learn", module + "/cmd/gvw", false, false},
		{"learn", module + "/model", false, true},
		{"model", module + "/learn", false, false},
		{"model", module + "/allreduce", false, false},
		{"cmd/gvw", module + "/learn", false, true},
		{"internal/fmath", module + "/loss", false, false},
		{"nowhere", module + "/loss", false, false},
		{"learn", "github.com/colinmarc/hdfs/v2", false, false},
		{"hdfsio/native", "github.com/colinmarc/hdfs/v2", false, true},
		{"cmd/gvw", "github.com/colinmarc/hdfs/v2", false, false},
		{"optim", "pgregory.net/rapid", false, false},
		{"optim", "pgregory.net/rapid", true, true},
		{"feature", "unsafe", false, false},
		{"allreduce", "unsafe", false, true},
		{"internal/spantree/server", "unsafe", false, false},
		{"hdfsio", "C", true, false},
		{"learn", "log", false, false},
		{"learn", "log/slog", false, true},
		{"learn", "math/rand", false, false},
		{"learn", "math/rand/v2", false, true},
		{"learn", "example.org/unknown", true, false},
		{"learn", "fmt", false, true},
	} {
		if why := faults(c.pkg, c.path, c.test); (why == "") != c.ok {
			t.Errorf("%s imports %s (test: %v): %q, want allowed: %v", c.pkg, c.path, c.test, why, c.ok)
		}
	}
}

func TestEveryRowHasAReason(t *testing.T) {
	for _, l := range layers {
		if l.why == "" {
			t.Errorf("layer %s has no reason", l.pkg)
		}
	}
	for _, f := range slices.Concat(foreigners, special) {
		if f.why == "" {
			t.Errorf("%s has no reason", f.path)
		}
	}
}
