// SPDX-License-Identifier: Apache-2.0

//go:build long

package tests

import "time"

const (
	hostiles      = 10_000
	hostileWiring = time.Second
)
