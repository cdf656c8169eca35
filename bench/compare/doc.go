// SPDX-License-Identifier: Apache-2.0

// Command compare measures the whole table of speeds: gvw beside its anchors (vw, scikit-learn, liblinear, Open MPI, or gvw
// itself with other options), with the goal and the limit of each row.
//
//	go run ./bench/compare -vw "PYTHON -m vowpalwabbit" -python PYTHON -data DIR
//	go run ./bench/compare -vw "PYTHON -m vowpalwabbit" -only "text|cache" -runs 1 -lines 10000
//
// It prints a table of Markdown to stdout and, with -out, writes compare.csv, from which tools/draw makes the picture;
// make bench-compare does both. DIR has folders of data sets with train.vw.gz: 20news, imdb and assist2015. The other data are
// made, the same in each run. A row whose anchor or data are missing says so instead of figures.
//
// # Method
//
// The programs of a row take turns, -runs times, as whole processes; all-reduces are batches of calls, with twice as
// many turns less one. The ratio of a row is the median of the ratios of turns, and its quartiles stand beside it. Ratios of CPU
// time depend less on other work of the machine than those of wall time. Rows that another benchmark measures are measured by that
// program: pass, batch, solvers, start and join print their runs with -json, and all-reduces are those of gvw bench.
//
// A goal or limit is a ratio or a value in the unit of the row. A value is drawn as its ratio to the anchor's median. Rows
// without an anchor have the goal as one.
package main
