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

// explain converts an error of the library to one of package remote: a refusal with its
// exception, or a broken connection.
func explain(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[hdfsError](err); ok {
		return remote.Refuse(e.Exception(), e.Message())
	}
	// The library gives the reason for giving up the name nodes only as text.
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

// brokenError is a failed connection to a data node or a name node.
type brokenError struct{ err error }

func (e *brokenError) Error() string   { return e.err.Error() }
func (e *brokenError) Unwrap() error   { return e.err }
func (e *brokenError) Transient() bool { return true }

// broken marks an error during a transfer as transient, unless a server gave a reason.
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

// transferable rejects ways to protect data that the library gets wrong: its connection for integrity, and for privacy by
// another cipher than AES, loses count of its bytes when a read ends in a later message than it begins. A test with privacy has shown
// it; for integrity the source has the same lines
// (github.com/colinmarc/hdfs v2.4.0, digestMD5PrivacyConn.Read and digestMD5IntegrityConn.Read).
func (c Config) transferable() error {
	switch {
	case c.Protection == "integrity":
		return fmt.Errorf("dfs.data.transfer.protection is integrity, which this client does not support: use privacy with AES, or Hadoop's own client (pipe): %w", errors.ErrUnsupported)
	case c.Protection == "privacy" && !c.AES:
		return fmt.Errorf("dfs.data.transfer.protection is privacy without AES, which this client does not support: "+
			"set dfs.encrypt.data.transfer.cipher.suites to AES/CTR/NoPadding on servers and clients, or use Hadoop's own client (pipe): %w", errors.ErrUnsupported)
	}
	return nil
}

// readable rejects files that the library would read or write incorrectly. where is a file, or
// the directory of a new one.
func readable(where fs.FileInfo) error {
	status, ok := where.Sys().(*hdfs.FileStatus)
	if !ok {
		return nil
	}
	switch ec := status.GetEcPolicy(); {
	case status.GetFileEncryptionInfo() != nil:
		return fmt.Errorf("it is in an encryption zone, which this client does not support: use hdfs.Config.Client=webhdfs: %w", errors.ErrUnsupported)
	case ec != nil && ec.GetId() != replicated:
		return fmt.Errorf("it is erasure-coded, which this client does not support: use hdfs.Config.Client=webhdfs: %w", errors.ErrUnsupported)
	}
	return nil
}

// replicated is the number of the erasure-coding policy that means replication.
const replicated = 0
