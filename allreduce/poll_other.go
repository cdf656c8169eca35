// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package allreduce

import "errors"

// polled is an edge's share of a poll loop, which this system does not have.
type polled struct{}

func (e *edge) liftNews() {}

func newPollLoop(*engine) (driver, error) {
	return nil, errors.New("the poll loop exists on Linux alone")
}
