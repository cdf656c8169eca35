// SPDX-License-Identifier: Apache-2.0

package learn

// An Option is a setting for which no value can stand for "not given". The zero
// Option is not set.
type Option[T any] struct {
	Value T
	Set   bool
}

// Or returns the value, or def where it is not set.
func (o Option[T]) Or(def T) T {
	if o.Set {
		return o.Value
	}
	return def
}
