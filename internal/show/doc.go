// SPDX-License-Identifier: Apache-2.0

// Package show has the commands that draw what a run has left behind: gvw report makes a page of the file of --record, gvw
// plot draws losses and weights, and gvw timeline draws the file of --timeline. docs/reports.md describes them for users.
//
// The pictures are made by the packages chart and report, which are pure. This package reads the files, and writes the pictures by the
// files of package files, which get their names when they are complete. An error of an input names the file and the line.
package show
