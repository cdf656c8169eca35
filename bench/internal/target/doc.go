// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package target starts the servers of models that a benchmark measures.
//
//	lines := target.Lines(100_000, 20)
//	model, err := target.Train(ctx, gvw, dir, lines)
//	s, err := target.Start(ctx, target.Config{Name: "gvw", Command: []string{gvw, "serve", "-i", model, "--port", target.Port}, Dir: dir})
//	defer s.Stop()
//
// A server runs in a process group of its own. Its CPU time and its memory are those of the group, so the children
// of vw's daemon count.
package target
