// SPDX-License-Identifier: Apache-2.0

//go:build !long

package tests

import "time"

// hostiles is how many hostile connections there are at once, and hostileWiring in what
// time a job must start all the same. Every run of the tests has some of them; the long
// one measures.
const (
	hostiles      = 1000
	hostileWiring = 10 * time.Second
)
