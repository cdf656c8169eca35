// SPDX-License-Identifier: Apache-2.0

// Package statusline keeps lines with the progress of a run at the bottom of a terminal.
//
// [Lines] is a writer: text written through it appears above the lines. [Row] lays a line out for
// the width of the terminal:
//
//	lines := statusline.New(os.Stderr, statusline.Width(os.Stderr))
//	defer lines.End()
//	lines.Show(statusline.Row{Label: "pass 2/4", Share: 0.4, Fields: []string{"ETA 12s", "loss 0.31"}}.Fit(lines.Width()))
//
// A line is shorter than the terminal is wide, so that it does not wrap. If the terminal has become
// narrower since, terminals wrap the lines that are shown; they are removed by the number of rows that they
// then have. Nothing is drawn by a timer: the caller decides when.
package statusline
