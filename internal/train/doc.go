// SPDX-License-Identifier: Apache-2.0

// Package train implements gvw without a command: it trains or predicts, in one process or as
// one rank of a job.
//
// A command line is processed in this order:
//
//	parse → notes on ineffective options → Check → Config → inputs and outputs → learn.Run
//
// [Check] refuses options that contradict each other or would be ignored. [Config] fills
// learn.Config from the table of options; [Learner.Learn] adds files, diagnostics and the
// membership of the job. A rank of an elastic job and a spare join before they know their
// inputs. gvw --args trains several models, one after the other.
//
// A launcher that decides on outputs and memory, such as a map task, is a [Learner]'s Task.
package train
