// SPDX-License-Identifier: Apache-2.0

// Package option has the type of settings that may be left out.
//
// A field of an ordinary type uses its zero value for "not given". That fails for a setting whose
// zero value is a choice of its own, as a learning rate of 0 is. Such a field is an [Option]:
//
//	type Config struct {
//		LearningRate option.Option[float32] // not set: 0.5
//	}
//
//	cfg := Config{LearningRate: option.Some[float32](0)}
//	rate := cfg.LearningRate.Or(0.5) // 0
//
// The zero Option is not set, so the zero value of a Config keeps all defaults.
package option

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
