// SPDX-License-Identifier: Apache-2.0

package main

import "context"

// row is a line of the table.
type row struct {
	name        string
	anchor      string // what the row is compared with
	unit        string // of the values of both
	goal, limit bound
}

// group has rows that are measured together, by one function that returns their outcomes in the same order.
type group struct {
	rows    []row
	measure func(ctx context.Context, s *session) ([]outcome, error)
}

// table returns all groups in the order of the table.
func table() []group {
	one := func(r row, measure func(ctx context.Context, s *session) (outcome, error)) group {
		return group{[]row{r}, func(ctx context.Context, s *session) ([]outcome, error) {
			o, err := measure(ctx, s)
			return []outcome{o}, err
		}}
	}
	vw := func(name, pass string, goal, limit bound) group {
		return one(row{name, "vw", "s", goal, limit}, besideVW(pass))
	}
	optimum := func(p problem, goal float64) group {
		return one(row{p.set + " to the optimum", "scikit-learn, liblinear", "s", ratio(goal), bound{}}, p.measure)
	}
	ranks := func(name string, passes int) group {
		return one(row{name, "one process", "s", ratio(0.65), ratio(0.5)}, twoRanks(passes))
	}
	const mpi = "Open MPI"
	return []group{
		vw("text, sparse", "sparse text", ratio(0.33), ratio(0.18)),
		vw("text, dense", "dense text", ratio(0.25), ratio(0.15)),
		vw("cache, sparse", "sparse cache", ratio(0.35), at(0.10)),
		vw("cache, dense", "dense cache", ratio(0.45), bound{}),
		vw("5 passes, sparse", "sparse, 5 passes", ratio(0.36), bound{}),
		vw("-q uv", "-q uv, 8000 lines", ratio(0.34), bound{}),
		vw("predict, sparse", "predict sparse", ratio(0.25), bound{}),
		vw("predict, dense", "predict dense", ratio(0.25), bound{}),
		one(row{"--oaa 20, 20news", "vw", "s", ratio(0.45), bound{}}, classes),
		{[]row{
			{"-b 28, time", "-b 18", "s", ratio(1.5), ratio(1)},
			{"-b 28, memory of weights", "touched weights", "MB", ratio(2), ratio(1)},
			{"-b 28, memory", "vw -b 28", "MB", bound{}, bound{}},
		}, largeTable},
		one(row{"L-BFGS, a feature", "bare loop", "ns", at(3), at(1.25)}, lbfgsPass),
		optimum(problem{"imdb", "100", "7665.7277", "60", "0.05"}, 0.2),
		optimum(problem{"assist2015", "10", "290111.54", "162", "0.02"}, 0.3),
		optimum(problem{"20news-bin", "10", "1269.7587", "113", "0.002"}, 0.5),
		ranks("run -n 2, 1 pass", 1),
		ranks("run -n 2, 5 passes", 5),
		{[]row{
			{"all-reduce, N = 4, 4 B", mpi, "µs", ratio(0.65), ratio(0.52)},
			{"all-reduce, N = 4, 64 KiB", mpi, "µs", ratio(0.65), ratio(0.54)},
			{"all-reduce, N = 4, 1 MiB", mpi, "µs", ratio(0.65), ratio(0.41)},
			{"all-reduce, N = 4, 16 MiB", mpi, "µs", ratio(0.75), bound{}},
		}, reductions(4, 4, 64<<10, 1<<20, 16<<20)},
		{[]row{
			{"all-reduce, N = 2, 64 KiB", mpi, "µs", ratio(0.8), bound{}},
			{"all-reduce, N = 2, 1 MiB", mpi, "µs", ratio(1.05), ratio(0.97)},
			{"all-reduce, N = 2, 16 MiB", mpi, "µs", ratio(0.7), bound{}},
		}, reductions(2, 64<<10, 1<<20, 16<<20)},
		one(row{"1,000 ranks", "none", "s", at(1.5), bound{}}, largeJob(1000)),
		{[]row{
			{"4,000 ranks", "none", "s", at(6), bound{}},
			{"4,000 ranks, server, a rank", "none", "ms", at(0.35), bound{}},
		}, hugeJob},
		{[]row{
			{"start of a process", "Go hello", "ms", at(10), at(3)},
			{"start of a further rank", "Go hello", "ms", at(12), at(3)},
		}, starts},
		one(row{"hybrid that recovers, memory", "--on_loss abort", "MB", at(1500), bound{}}, recovery),
	}
}
