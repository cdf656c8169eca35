// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/flags"
)

// The texts of help pages that are more than the text before the options, the options, and the
// text after them. The manual has the same texts.
const (
	learnBefore = `gvw learns linear models as Vowpal Wabbit does, on one machine or a cluster.

  gvw -d train.vw -f model [OPTIONS]           train
  gvw -d test.vw -t -i model -p predictions    predict
  gvw run -n 4 -- -d train.vw -f model ...     train with 4 processes
  gvw inspect | diff | convert | report | plot | timeline | splines   files
  gvw search | topics | infer | svm | factor | nn | version | help | completion
  gvw allreduce | malt | doctor | topo | top | bench | simulate | remote  sums
  gvw serve | supervise | jobs | cancel | faults | mapper | hadoop | keygen
`
	learnAfter = `
Each option is also set by the environment (GVW_BIT_PRECISION=20); the command
line comes first. @FILE reads arguments from FILE. Names may be written with
dashes. Files that end in .gz, .zst or .bz2 are decompressed.
`
	exitCodes = `Exit codes: 0 done, 1 usage, 2 data, 3 peer lost, 4 deadline, 5 input or output,
6 refused, 130 and 143 interrupted.
`
	runBefore = `gvw run trains with several processes on this machine, server included.

  gvw run -n 4 -- -d train.vw -f model --hybrid 2:20
  gvw run -n 4 -- -d 'part.{rank}' -f model -p 'predictions.{rank}'
  gvw run -n 4 -- ./program ARGS     any program of package allreduce
  srun gvw run --join -- -d train.vw -f model     under Slurm, mpirun, …
`
	runAfter = `
The learner's options follow -- (gvw --help). {rank} in a file name is each
process's number, from 0. Without it the data is divided, rank 0 writes the
model, predictions are gathered in the order of the data, and caches get the
rank appended. A program finds its place in the job in its environment:
docs/allreduce.md lists the variables.
`
	hadoopBefore = `gvw hadoop computes what a launcher of a job of maps needs.

  hadoop fs -ls IN | gvw hadoop split --maps 8     SIZE N: this least size of a split
                                                   (mapreduce.input.fileinputformat.
                                                   split.minsize) gives N maps
  gvw hadoop slots --maps 8 --map_mb 2048          do they all run at once?
`
	hadoopAfter = `
Maps that wait for each other must all run at once, and MapReduce does not ensure
that. yarn-site.xml and mapred-site.xml are read in $HADOOP_CONF_DIR. Exit codes of
slots: 0 they fit now, or when other jobs have ended (stdout has which); 6 they
never fit.
`
)

// learnHelp returns the first screen of help, or the page of every option if all is true.
// help_test.go bounds the first screen.
func learnHelp(f *cli.FlagSet, all bool) string {
	var b strings.Builder
	b.WriteString(learnBefore)
	cli.WriteOptions(&b, f.Specs, all)
	if all {
		b.WriteString(learnAfter)
	} else {
		b.WriteString(`
Every option and its default: gvw --help all. Several processes: gvw run --help.
`)
	}
	b.WriteString(exitCodes)
	return b.String()
}

// runHelp returns the help of gvw run. Options shared with the learner are listed by name
// only, since the learner's own page explains them.
func runHelp(*cli.FlagSet, bool) string {
	var b strings.Builder
	b.WriteString(runBefore)
	cli.WriteOptions(&b, flags.Launch, true)
	b.WriteString(`
These options of the learner may also precede the --:
`)
	var shared []string
	for _, s := range flags.Shared {
		shared = append(shared, s.Spelled())
	}
	cli.WriteWords(&b, 2, 2, strings.Join(shared, " "))
	b.WriteString(runAfter)
	return b.String()
}

// hadoopHelp returns the help of gvw hadoop, on one page for both subcommands.
func hadoopHelp(*cli.FlagSet, bool) string {
	var b strings.Builder
	b.WriteString(hadoopBefore)
	cli.WriteOptions(&b, flags.Slots, true)
	b.WriteString(hadoopAfter)
	return b.String()
}
