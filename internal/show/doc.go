// SPDX-License-Identifier: Apache-2.0

// Package show has the commands that draw what a run has left behind: gvw timeline draws the file of --timeline.
// docs/reports.md describes them for users.
//
// The pictures are made by package chart, which is pure. This package reads the files, and writes the pictures by the
// files of package files, which get their names when they are complete. An error of an input names the file and the line.
package show
