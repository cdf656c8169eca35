// SPDX-License-Identifier: Apache-2.0

// Command figures measures the figures of docs/figures: it writes one CSV file for each. The command draw in
// tools makes SVG files of them; make figures runs both.
//
//	go run ./bench/figures -data DIR [-only REGEXP] [-out docs/figures]
//
// DIR has the data sets cocoa-text and splice; figures that need none of them are made without -data.
//
// # How jobs are run
//
// The ranks of a job are goroutines of this process, with a real server, and connections over the loopback or in
// memory. Where time is measured, each rank learns from a bounded number of examples a second, which
// is far below what a core can do: a figure about ten ranks then needs no ten cores, and the ranks have the
// speeds that the figure is about. The time includes the library's work and the system's network. Models
// are evaluated after the job, so that evaluation takes no time from it.
//
// # Form of a file
//
// Comment lines with # give the title, the names of the axes, the scales, and the command. The table follows: series, x, y.
package main
