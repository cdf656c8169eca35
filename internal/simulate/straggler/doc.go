// SPDX-License-Identifier: Apache-2.0

// Package straggler computes the times of passes over data in which all ranks wait for the slowest one, on hosts of unequal
// speed, with and without second attempts of slow ranks. It returns quantiles and speed-up.
//
//	r, err := straggler.Run(straggler.Config{
//		Ranks: 1000, Passes: 20, Work: time.Hour, Exchange: time.Second,
//		Hosts: straggler.Published, Speculate: 1.5,
//	})
//	fmt.Println(r.Quantile(0.95), r.SpeedUp())
//
// The package is pure. Equal configurations, seed included, have equal results.
//
// # The model
//
//   - A pass is the same work for each rank. A host takes it times a factor, which is drawn from Config.Hosts when the
//     attempt starts and stays. The exchange after the pass takes a time of its own, such as that of package simulate.
//   - A launcher starts another attempt of a rank whose pass takes more than Config.Speculate times the median of the pass,
//     on another host. A rank has at most one such attempt under way.
//   - In the first pass the attempt that is ready first holds the rank. In later passes the server hands the rank over, if
//     the holder took more than SlowFactor times the median in two passes and the other attempt takes less: at the end of
//     the second one. These are the rules of internal/spantree/core.
//
// Left out are the join and the load of data, limits of the launcher, hosts that change their speed, and attempts that
// disturb each other. An attempt that was started and is not needed waits until its rank is handed over.
package straggler
