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
//
// mpb draws the bars (mpb.BarStyle), knows the size of the terminal and moves its cursor (cwriter).
// Its container of bars, mpb.Progress, is not used: it writes text above the bars only at its next
// refresh, 150 ms later, so that a process that ends at once loses diagnostics; it draws bars over a row
// that is written in pieces, as those of L-BFGS are; and its goroutines end at a refresh (with 4 bars, 7
// of them, and 249 ms from Abort to the end of Wait). The parts that are used start no goroutine, and
// their packages add 0.12 ms to the start of gvw (median of 40 runs with GODEBUG=inittrace=1) and 0.25 MB
// to the program. schollz/progressbar draws one line, and links net/http and a web server.
package statusline
