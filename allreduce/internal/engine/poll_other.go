// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package engine

import "errors"

// polled is an edge's share of a poll loop, which this system does not have.
type polled struct{}

func (e *Edge) liftNews() {}

// NewPollLoop returns an error: the driver needs Linux.
func NewPollLoop(*Engine) (Driver, error) {
	return nil, errors.New("the poll loop exists on Linux alone")
}
