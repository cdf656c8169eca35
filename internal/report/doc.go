// SPDX-License-Identifier: Apache-2.0

// Package report makes a page of one run, or of two side by side, from their records. It is pure: records in, HTML out.
//
//	page := report.Page{Runs: []*report.Run{{Name: "a", Record: a}, {Name: "b", Record: b}}}
//	text := page.AppendHTML(nil)
//
// # Page
//
// The page is one file without scripts and without references to other files. Its pictures are those of package chart.
// Sections whose figures are unknown are left out, or state why. Each picture has a text for screen readers, and tables
// have headings. The page fits a width of 360 pixels: wide pictures and tables scroll by themselves.
//
// # Views
//
// The figures come from functions on records: losses by pass, time and traffic (view.losses), the time of ranks (rankTimes),
// quantiles and stragglers, the traffic of edges, and the curves of predictions (Scores).
//
// # Contract
//
// The same input gives the same bytes. Text from the input is escaped. Records of any contents that record.Read accepts
// give a page.
package report
