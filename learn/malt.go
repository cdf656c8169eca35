// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/maltjob"
	"github.com/gvw-project/gvw/learn/internal/maltstage"
	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/learn/internal/trainer"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/malt"
	"github.com/gvw-project/gvw/malt/graph"
	"github.com/gvw-project/gvw/optim/outer"
)

// MaltConfig configures asynchronous training: ranks exchange weights every few examples (package malt), and no rank
// waits for another one at the end of a pass. After the last pass the models of all ranks are averaged. All ranks
// have the same settings.
type MaltConfig struct {
	// Graph is the graph along which ranks send, a name of package malt/graph; with Custom, a name for messages.
	// Empty: no asynchronous training.
	Graph    string
	Custom   *graph.Graph // a graph of all ranks without weights of edges, instead of the one that Graph names; nil: none
	Sync     string       // for which ranks a rank waits: "asp", "bsp", "ssp:S" or "notify_ack"; empty: asp
	Every    int          // examples that a rank learns from between two exchanges; 0: 1000
	Send     string       // "models", "deltas", "gradients", or "deltas:M" with models every M-th time; empty: models
	MaxDelay int          // exchanges by which an update may be late: older ones are dropped, and late deltas count 1/(1+delay); 0: any
	// VerbsMemory is the largest memory of this rank that is registered for updates by RDMA, in bytes: malt.Config.VerbsMemory.
	// The device is that of the collectives. 0: no limit but that of the system.
	VerbsMemory int64
	Compress    string // encoding of updates, "f16", "q8" or "top:K", for rules without sums; empty: plain
}

// defaultEvery is the default of MaltConfig.Every.
const defaultEvery = 1000

// on reports whether training is asynchronous.
func (c *MaltConfig) on() bool { return c.Graph != "" }

// stage returns the configuration of the stage. f gets the faults of fields that are texts.
func (c *MaltConfig) stage(f *usage.Faults) maltstage.Config {
	s := maltstage.Config{
		Graph: c.Graph, Custom: c.Custom, Sync: cmp.Or(c.Sync, "asp"), Every: cmp.Or(c.Every, defaultEvery), MaxDelay: c.MaxDelay,
	}
	var err error
	if s.Send, s.Whole, err = maltstage.ParseSend(cmp.Or(c.Send, maltstage.Models.String())); err != nil {
		f.Add("Malt.Send", "%v", err)
	}
	if s.Format, err = maltstage.ParseFormat(c.Compress); err != nil {
		f.Add("Malt.Compress", "%v", err)
	}
	return s
}

// Validate reports every fault of the group at once.
func (c *MaltConfig) Validate() error {
	var f usage.Faults
	if !c.on() {
		if *c != (MaltConfig{}) {
			f.Add("Malt.Graph", "it is missing, and without it the other options of asynchronous training have no effect")
		}
		return f.Err()
	}
	if c.VerbsMemory < 0 {
		f.Add("Malt.VerbsMemory", "got %d, want 0 bytes or more", c.VerbsMemory)
	}
	s := c.stage(&f)
	for _, fault := range s.Faults() {
		f.Add("Malt."+fault.Field, "%v", fault.Err)
	}
	return f.Err()
}

// maltStage returns the configuration of the stage with its outer optimiser.
func (c *Config) maltStage(f *usage.Faults) maltstage.Config {
	s := c.Malt.stage(f)
	s.Outer = outer.Config(c.Outer)
	return s
}

// validateMalt reports options that contradict asynchronous training.
func (c *Config) validateMalt(f *usage.Faults) {
	if !c.Malt.on() {
		return
	}
	const field = "Malt.Graph"
	join := c.Cluster.Join
	switch {
	case join == nil:
		f.Add(field, "asynchronous training is for the ranks of a job: give allreduce.Config.Server, or leave it out")
		return
	case c.TestOnly:
		f.Add(field, "nothing is learned: leave it out with learn.Config.TestOnly")
	case c.batches():
		f.Add(field, "L-BFGS needs the exact sums of all ranks: leave learn.Config.Batch.BFGS and learn.Config.Hybrid out")
	}
	replaces := join.OnLoss == allreduce.Wait || join.OnLoss == allreduce.Open
	if replaces && join.Job.RunKey == "" {
		f.Add("Cluster.Join.Job.RunKey", "asynchronous training needs it where lost ranks are replaced: the server recognises by it an attempt that comes after the last pass")
	}
	if replaces && c.Output.Predictions+c.Output.RawPredictions != "" {
		f.Add("Output.Predictions", "a replacement of a lost rank continues in the middle of a pass and predicts no example before: use abort or shrink, or predict in a run of its own")
	}
	if join.Elastic && join.OnLoss != allreduce.Open {
		f.Add("Cluster.Join.Elastic", "asynchronous training starts without missing ranks only if its vectors grow, by which these join later: change allreduce.Config.OnLoss, or leave it out")
	}
	if c.Holdout.EarlyTerminate != defaultEarlyTerminate {
		f.Add("Holdout.EarlyTerminate", "with learn.Config.Malt.Graph all passes are made, since ranks end them at different times")
	}
	rule, err := c.updateRule()
	if err != nil {
		return // reported by SGDConfig.Validate
	}
	s := c.maltStage(new(usage.Faults)) // MaltConfig.Validate reports them
	for _, fault := range s.Conflicts(join.Total, rule) {
		field := "Malt." + fault.Field
		if fault.Field == "OuterRate" {
			field = "Outer.Rate"
		}
		f.Add(field, "%v", fault.Err)
	}
}

// async returns the stage of asynchronous training by the passes of a learner, whose state is in online.
func (r *runner) async(passes maltstage.Passes, online *sgdstage.Online) trainer.Stage {
	c := &r.cfg
	s := maltstage.New(passes, online, c.maltStage(new(usage.Faults)), c.maltJob(), classified)
	s.Exchanged = c.Diagnostics.Vectors
	return s
}

// maltTables returns the tables that the exchange of weights allocates in any case. An exchange also needs memory for
// what it sends and for the queues of what arrives, which depends on the data.
func (c *Config) maltTables() (tables []Amount) {
	if !c.Malt.on() || c.Cluster.Join == nil || c.Cluster.Join.Total < 2 {
		return nil
	}
	weights, s := uint64(1)<<c.Features.Bits, c.maltStage(new(usage.Faults))
	tables = append(tables, Amount{"places of weights in a merge", 4 * weights})
	if s.Send != maltstage.Models {
		tables = append(tables, Amount{"weights and their sums after the last exchange", 12 * weights})
	}
	if !s.Outer.Plain() {
		tables = append(tables, Amount{"weights and velocities of the outer optimiser", 8 * weights})
	}
	return tables
}

// maltSpace distinguishes the job of the shared vectors from that of the collectives, which has the same server.
const maltSpace = 0x6d616c74 << 32 // "malt"

// maltStart limits the time until all ranks have joined the job of the shared vectors. A rank that is lost between the
// starts of both jobs would otherwise be waited for as long as for the first one.
const maltStart = time.Minute

// maltElastic is the time after which an elastic job starts without its missing ranks, unless StartTimeout is set.
const maltElastic = 10 * time.Minute

// maltJob returns the configuration of the job of the shared vectors.
func (c *Config) maltJob() malt.Config {
	j := c.Cluster.Join
	m := maltjob.Config(j)
	m.Log = c.Diagnostics.Log
	// All ranks are there: they have joined the job of the collectives. A rank that is lost since may be replaced.
	if !m.OnLoss.Replaces() && (m.StartTimeout == 0 || m.StartTimeout > maltStart) {
		m.StartTimeout = maltStart
	}
	if j.Elastic {
		m.Elastic = cmp.Or(j.StartTimeout, maltElastic)
	}
	m.Passes = c.Passes
	m.VerbsMemory = c.Malt.VerbsMemory
	m.Job = VectorsJob(m.Job)
	return m
}

// VectorsJob returns the job of the shared vectors of a job with asynchronous training. The server has it as a job of its
// own.
func VectorsJob(j allreduce.Job) allreduce.Job {
	j.UniqueID += maltSpace // twice is a third job, so that a pair of jobs shows which one has the vectors
	if j.RunKey != "" {
		j.RunKey += "+malt"
	}
	return j
}
