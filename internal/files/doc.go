// SPDX-License-Identifier: Apache-2.0

// Package files opens and creates the files that options name.
//
// A [Set] belongs to one command of a process:
//
//	set := files.New(process)
//	fsys := set.System(settings.Get, quiet)     // local files, and clusters when a name needs one
//	inputs, err := set.Inputs(ctx, fsys, data, cache, shard)
//	create := set.Creator(ctx, fsys, rank)      // outputs, and stdout by its names
//
// Connections to clusters end with the process. Outputs are temporary files until they are
// committed; if the process has to end before that, they are removed.
//
// In names of files, [RankMark] stands for the rank ([FillRank]).
package files
