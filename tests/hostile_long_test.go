// SPDX-License-Identifier: Apache-2.0

//go:build long

package tests

// hostiles is the number of hostile connections at a time.
const hostiles = 10_000
