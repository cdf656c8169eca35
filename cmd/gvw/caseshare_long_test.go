// SPDX-License-Identifier: Apache-2.0

//go:build long

package main

// vwShare is the share of the recorded outcomes that TestCasesAgainstVW compares with the real vw: one
// in so many.
const vwShare = 1
