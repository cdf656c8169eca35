// SPDX-License-Identifier: Apache-2.0

package native

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/colinmarc/hdfs/v2"

	"github.com/gvw-project/gvw/hdfsio/remote"
)

// explain makes of the library's error what remote knows: a refusal with its
// exception, or a connection that is broken.
func explain(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[hdfsError](err); ok {
		return remote.Refuse(e.Exception(), e.Message())
	}
	// Why the name nodes were given up the library tells in words only.
	if strings.Contains(err.Error(), "no available namenodes") {
		return &brokenError{err}
	}
	return err
}

// hdfsError is the library's hdfs.Error as an error.
type hdfsError interface {
	error
	hdfs.Error
}

// brokenError is a failure on the way to a data node or a name node.
type brokenError struct{ err error }

func (e *brokenError) Error() string   { return e.err.Error() }
func (e *brokenError) Unwrap() error   { return e.err }
func (e *brokenError) Transient() bool { return true }

// broken marks what failed while bytes were moved, unless a server gave a reason.
func broken(err error) error {
	if err = explain(err); is[*remote.Refusal](err) || is[*brokenError](err) {
		return err
	}
	return &brokenError{err}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// readable refuses what the library would read or write wrongly: where is a file, or
// the folder of a new one.
func readable(where fs.FileInfo) error {
	status, ok := where.Sys().(*hdfs.FileStatus)
	if !ok {
		return nil
	}
	switch ec := status.GetEcPolicy(); {
	case status.GetFileEncryptionInfo() != nil:
		return fmt.Errorf("it is in an encryption zone, which this client does not know: take --hdfs_client webhdfs: %w", errors.ErrUnsupported)
	case ec != nil && ec.GetId() != replicated:
		return fmt.Errorf("it is erasure-coded, which this client does not know: take --hdfs_client webhdfs: %w", errors.ErrUnsupported)
	}
	return nil
}

// replicated is the number of the policy that is none: whole copies, as everywhere else.
const replicated = 0
