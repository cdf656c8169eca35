// SPDX-License-Identifier: Apache-2.0

//go:build !long

package tests

import "time"

// hostiles is the number of hostile connections at a time, and hostileWiring the time within
// which a job must start nevertheless. Every run of the tests has some of them; the long one
// measures.
const (
	hostiles      = 1000
	hostileWiring = 10 * time.Second
)
