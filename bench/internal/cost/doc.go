// SPDX-License-Identifier: Apache-2.0

// Package cost measures runs of whole processes: wall time, CPU time and peak memory.
//
//	samples, err := cost.InTurns(ctx, 5, []string{"vw", "-d", file}, []string{"gvw", "-d", file})
//	ratio := cost.Median(samples[1]).Wall / cost.Median(samples[0]).Wall
package cost
