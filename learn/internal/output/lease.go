// SPDX-License-Identifier: Apache-2.0

package output

import "context"

// leased is an output that gets its final name only while this attempt holds the lease of its
// rank. An attempt may have been suspended while it was writing, and have been replaced
// meanwhile. It must not rename its file over the one that its replacement has delivered.
type leased struct {
	File
	lease func(context.Context) error
}

// conditional is a File that calls allowed when all bytes are written, directly before it gets its final name. It is
// aborted if allowed returns an error.
type conditional interface {
	CommitIf(allowed func() error) error
}

func (l leased) Commit() error {
	held := func() error { return l.lease(context.Background()) } // the end of the job bounds the wait
	// A commit may copy many bytes to other machines, which may take longer than the lease lasts.
	if f, ok := l.File.(conditional); ok {
		return f.CommitIf(held)
	}
	if err := held(); err != nil {
		return err
	}
	return l.File.Commit()
}

// UnderLease returns create with all its files subject to a lease.
func UnderLease(create func(name string) (File, error), lease func(context.Context) error) func(name string) (File, error) {
	return func(name string) (File, error) {
		out, err := create(name)
		if err != nil {
			return nil, err
		}
		return leased{out, lease}, nil
	}
}
