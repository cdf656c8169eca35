// SPDX-License-Identifier: Apache-2.0

// Gvw learns linear models as Vowpal Wabbit does, alone or on a cluster.
//
//	gvw -d train.vw -f model [OPTIONS]           train
//	gvw -d test.vw -t -i model -p predictions    predict
//	gvw run -n 4 -- -d train.vw -f model ...     train with 4 processes
//	gvw version
//
// The command line is vw's: options, short forms, attached values, lists,
// repeats. gvw --help shows it on one screen, gvw --help all in full. What vw
// leaves to chance is an error here: an option that would be ignored, a
// misspelling, an abbreviation, an option of vw that gvw lacks.
//
// # From arguments to a run
//
// One table of flags (flags.go) makes the parser, the help and urfave's flags.
// The arguments pass
//
//	@file expansion → vw's grammar and the environment → consistency → urfave → learn.Config
//	argfile.go        vwargs.go, values.go              check.go        app.go   options.go
//
// and [learn.Run] does the rest.
//
// # gvw run
//
// The launcher divides the job (plan.go: a pure function from settings to
// settings), starts a server in its own process and one gvw per rank, each
// with the cluster options of its rank (launcher.go), and puts the ranks'
// predictions together in the order of the data (gather.go).
//
//   - The data is shared out by bytes or by lines, or each rank has files of its
//     own: -d 'part.{rank}'.
//   - Rank 0 writes the model, unless its name has {rank}; caches get the rank
//     appended: FILE.2.
//   - Each rank's talk goes to a log; rank 0's also to the terminal.
//   - The rank that failed first is named with the end of its log; its exit code
//     is the launcher's. The others are ended. Workers hold a pipe of the
//     launcher: if it dies, they end too.
//
// A program in the place of the learner's options is launched in the same way, with
// its rank in its environment (runprogram.go; [allreduce.ConfigFromEnv] reads it).
//
// # gvw allreduce
//
// It joins a job as the learner does and reduces what comes on stdin, for shell
// pipelines and mappers in any language (allreduce.go; package allreduce/pipe does
// the work).
//
// # gvw bench
//
// gvw bench allreduce measures the collectives over several processes of this
// machine (bench.go; the method is package bench/collective's). It starts itself
// as gvw bench rank TASK for each of them.
//
// # gvw doctor
//
// gvw doctor examines the network between the ranks of a job (package
// allreduce/doctor), or of this machine, and says what is wrong.
//
// # gvw topo
//
// gvw topo draws who sends what to whom in an all-reduce, and the order of its
// additions (topo.go): as text, for Graphviz, or as SVG.
//
// # Credentials
//
// What keeps strangers out is read from files, by name (credentials.go); gvw run draws a
// secret and hands it to its workers by a descriptor, and doctor -n keeps one in this
// process. gvw keygen makes secrets and certificates (keygen.go). docs/security.md says
// what they are good for.
//
// # gvw mapper, gvw hadoop
//
// gvw mapper is a rank as the mapper of Hadoop Streaming (mapper.go, maptask.go,
// mapreport.go; the contract is package internal/hadoop's). gvw hadoop answers what
// scripts/mapscript.sh has to know before it submits a job (hadoop.go).
//
// # Exit codes
//
//	0 done   1 usage   2 data   3 peer lost   4 deadline   5 input or output
//	6 refused   130 SIGINT   143 SIGTERM
//
// The last line of a failed run says what, where, why and what to do.
// Predictions go to stdout if asked to; talk always goes to stderr.
package main
