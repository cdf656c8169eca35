// SPDX-License-Identifier: Apache-2.0

package learn

// An Option is a setting of which every value has a meaning, so that none can stand for
// "not given". The zero Option is not set.
type Option[T any] struct {
	Value T    // without meaning unless Set
	Set   bool // whether the setting was given
}

// Some returns an Option that is set to a value.
func Some[T any](value T) Option[T] { return Option[T]{Value: value, Set: true} }

// Or returns the value, or def if the Option is not set.
func (o Option[T]) Or(def T) T {
	if o.Set {
		return o.Value
	}
	return def
}
