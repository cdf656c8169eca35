// SPDX-License-Identifier: Apache-2.0

package malt

import "context"

// custody passes the values of all vectors between the program, which may change them outside of calls, and the
// goroutine that copies them for a new rank. Its channel has a value while the program is in a call and does not
// change them. A nil custody is that of a job without new ranks.
type custody chan struct{}

func newCustody(needed bool) custody {
	if !needed {
		return nil
	}
	return make(custody, 1)
}

// release begins a call of the program.
func (c custody) release() {
	if c != nil {
		c <- struct{}{}
	}
}

// regain ends a call, or the part of it in which no values change. It waits while they are copied.
func (c custody) regain() {
	if c != nil {
		<-c
	}
}

// borrow waits until the program is in a call, and calls use meanwhile. It returns the cause of the end of ctx.
func (c custody) borrow(ctx context.Context, use func() error) error {
	select {
	case <-c:
		defer func() { c <- struct{}{} }()
		return use()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
