// SPDX-License-Identifier: Apache-2.0

package output

import "context"

// leased is an output that gets its final name only while the server counts on this
// rank: an attempt that was stopped in the middle of writing, and was counted as lost
// meanwhile, must not rename over what its successor has delivered.
type leased struct {
	File
	lease func(context.Context) error
}

func (l leased) Commit() error {
	if err := l.lease(context.Background()); err != nil { // bounded by the job's end
		return err
	}
	return l.File.Commit()
}

// UnderLease makes the files that create starts subject to a lease.
func UnderLease(create func(name string) (File, error), lease func(context.Context) error) func(name string) (File, error) {
	return func(name string) (File, error) {
		out, err := create(name)
		if err != nil {
			return nil, err
		}
		return leased{out, lease}, nil
	}
}
