// SPDX-License-Identifier: Apache-2.0

package learn

import "context"

// leased is an output that gets its final name only while the server counts on this
// rank: an attempt that was stopped in the middle of writing, and was counted as lost
// meanwhile, must not rename over what its successor has delivered.
type leased struct {
	Output
	lease func(context.Context) error
}

func (l leased) Commit() error {
	if err := l.lease(context.Background()); err != nil { // bounded by the job's end
		return err
	}
	return l.Output.Commit()
}

// lease returns when the server counts on this rank. Without a group there is no server.
func (j *job) lease(ctx context.Context) error {
	if j.group == nil {
		return nil
	}
	return j.group.Lease(ctx)
}

// underLease makes the files that create starts subject to a lease.
func underLease(create func(name string) (Output, error), lease func(context.Context) error) func(name string) (Output, error) {
	return func(name string) (Output, error) {
		out, err := create(name)
		if err != nil {
			return nil, err
		}
		return leased{out, lease}, nil
	}
}
