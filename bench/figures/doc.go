// SPDX-License-Identifier: Apache-2.0

// Command figures measures the figures of docs/figures: it writes one CSV file for each. The command draw in
// tools makes SVG files of them; make figures runs both.
//
//	go run ./bench/figures -data DIR [-only REGEXP] [-spark PYTHON] [-out docs/figures]
//
// DIR has the data sets cocoa-text and splice, and for the figures of averages a9a, kdd99, rcv1-mini and lda-ap. Figures
// that need none of them are made without -data. PYTHON has pyspark and numpy; without it, MLlib is not measured.
//
// # How jobs are run
//
// In the figures of averages (averaging-…) ranks are processes of gvw, on the loopback and without shared memory. The
// url-like set and the Gantt charts need a network: there each rank has a namespace of its own behind a link of 1 Gbit/s.
// Where these cannot be made (they need root, ip and tc), the ranks are on the loopback, and the notes name it. Settings of
// SGD are searched before, by the same steps in this process. Caches are made before, and times include the models that rank
// 0 saves after each pass. The objectives are those of the saved models, or of the trace of a batch solver.
//
// In the other figures the ranks of a job are goroutines of this process, with a real server, and connections over the loopback or in
// memory. Where time is measured, each rank learns from a bounded number of examples a second, which
// is far below what a core can do: a figure about ten ranks then needs no ten cores, and the ranks have the
// speeds that the figure is about. The time includes the library's work and the system's network. Models
// are evaluated after the job, so that evaluation takes no time from it.
//
// The figures of simulations (simulated-…) measure nothing: package simulate computes them, the same on every machine. Those of
// the speed-up and of quantiles have real jobs beside simulated ones, named so. The ranks of the speed-up have a namespace, a
// link and a control group with a share of one processor each, which needs root; without it, these figures are not measured.
//
// # Form of a file
//
// Comment lines with # give the title, the names of the axes, the scales, what the figure shows, a text for readers without
// pictures, the command, the seed, and the commit, the machine and the day of the measurement. The table follows: series, x, y.
// With the kind dots, spans or ranges, y is the number of a row, whose names are in another comment. In spans, and in the first
// series of ranges, two points are the begin and the end of a bar.
package main
