// SPDX-License-Identifier: Apache-2.0

// Package programs has the commands gvw svm, gvw factor and gvw nn: learners on one machine, and with --malt on several.
//
// A learner is a program: it knows its options, its model and one example at a time. The rest is common to all:
// reading the data (dataset), the order of examples, passes, model files and predictions (run).
//
// # Serial and parallel
//
// A program that is also shared runs as ranks of a job. Each rank reads all examples once, keeps those of its share in
// memory (shares), and learns from them. After a loss it may take over another share. After every --cb_size examples
// it calls exchange, which sends and merges shared vectors of package malt. All that a learner changes for this is in
// the files malt*.go; lines_test.go counts them.
package programs
