// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"errors"
	"io/fs"
	"os"
)

// Calls makes the calls to the file system that concern one cache, one at a time. It may return
// before a call that hangs has returned. After that it makes no further calls, except that of Last.
type Calls interface {
	// Do runs call, which does op to the file.
	Do(op string, call func() error) error
	// Last runs the last call when all calls before it have returned. It does not wait for one
	// that hangs.
	Last(op string, call func() error) error
}

// direct makes calls without a watch.
type direct struct{}

func (direct) Do(_ string, call func() error) error   { return call() }
func (direct) Last(_ string, call func() error) error { return call() }

// Exists reports whether there is a file called path, which need not be a cache. The call to the
// file system is made by calls; nil: it is made directly.
func Exists(path string, calls Calls) (bool, error) {
	if calls == nil {
		calls = direct{}
	}
	err := calls.Last("open", func() error {
		_, err := os.Stat(path)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
