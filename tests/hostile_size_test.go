// SPDX-License-Identifier: Apache-2.0

//go:build !long

package tests

// hostiles is the number of hostile connections at a time. Every run of the tests has some of
// them.
const hostiles = 1000
