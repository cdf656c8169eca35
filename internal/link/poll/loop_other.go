// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package poll

import (
	"errors"

	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/shm"
)

// New returns an error: the driver needs Linux.
func New(*link.Set, *shm.Segments) (link.Driver, error) {
	return nil, errors.New("the poll loop exists on Linux only")
}
