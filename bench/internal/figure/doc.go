// SPDX-License-Identifier: Apache-2.0

// Package figure has tables of points that are drawn: a file of CSV for each, whose header has the axes, what the figure
// shows, and by which command, commit and machine it was made.
//
//	f := figure.Figure{Name: "speedup", Title: "Speed-up by ranks", X: "ranks", Y: "speed-up"}
//	f.Add("measured", figure.Point{X: 2, Y: 1.9})
//	f.Origin = figure.OriginOf(ctx, time.Now())
//	err := f.Write("docs/figures", "go run ./bench/figures -only speedup")
//
// [Index] writes a page with all figures of a directory. The drawing itself is the program tools/draw.
package figure
