// SPDX-License-Identifier: Apache-2.0

package malt

// Merger folds updates into the local value of a vector. The updates come by sender, oldest first. A program may
// write its own; it changes v.Values().
type Merger[T Element] func(v *Vector[T], in []Incoming[T])

// Average replaces each entry by the mean of the updates that contain it. Of a sender's updates the newest
// dense one counts, and all sparse ones after it.
func Average[T Element](v *Vector[T], in []Incoming[T]) { v.average(in, false) }

// AverageIncludingSelf is Average with the local value as one more update.
func AverageIncludingSelf[T Element](v *Vector[T], in []Incoming[T]) { v.average(in, true) }

// Sum adds all updates to the local value, each multiplied by its Factor.
func Sum[T Element](v *Vector[T], in []Incoming[T]) {
	for _, u := range in {
		add(v.local, u, T(u.Factor))
	}
}

// Replace writes all updates over the entries that they contain, in order (Hogwild across machines).
func Replace[T Element](v *Vector[T], in []Incoming[T]) {
	for _, u := range in {
		if u.Indices == nil {
			copy(v.local, u.Values)
			continue
		}
		for j, i := range u.Indices {
			v.local[i] = u.Values[j]
		}
	}
}

// WeightedAverage mixes the newest update of each sender into the local value with the graph's weights. The
// weight of a sender from which nothing has arrived goes to the local value. Updates are dense; sparse ones change
// only their entries.
func WeightedAverage[T Element](v *Vector[T], in []Incoming[T]) {
	in = newest(in)
	total := 0.0
	for _, u := range in {
		if u.Indices == nil {
			total += u.Weight
		}
	}
	for i := range v.local {
		v.local[i] *= T(1 - total)
	}
	for _, u := range in {
		if u.Indices == nil {
			add(v.local, u, T(u.Weight))
			continue
		}
		for j, i := range u.Indices {
			v.local[i] += T(u.Weight) * (u.Values[j] - v.local[i])
		}
	}
}

// RescaledAverage returns a merger for models of the form scale × values, where each rank has its own scale
// (Bottou's svmsgd): it averages the models, the local one included, and keeps the local scale. The updates
// were sent with ScatterScaled, and are dense.
func RescaledAverage[T Element](scale func() float64) Merger[T] {
	return func(v *Vector[T], in []Incoming[T]) {
		in = newest(in)
		n, own := float64(len(in)+1), scale()
		for i := range v.local {
			v.local[i] /= T(n)
		}
		for _, u := range in {
			add(v.local, u, T(u.Scale/own/n))
		}
	}
}

// add adds an update times a factor.
func add[T Element](local []T, u Incoming[T], factor T) {
	if u.Indices == nil {
		for i, x := range u.Values {
			local[i] += factor * x
		}
		return
	}
	for j, i := range u.Indices {
		local[i] += factor * u.Values[j]
	}
}

// average implements Average.
func (v *Vector[T]) average(in []Incoming[T], self bool) {
	in = newest(in)
	dense, own := 0, 0
	if self {
		own = 1
	}
	for _, u := range in {
		if u.Indices == nil {
			dense++
		}
	}
	if dense > 0 && dense == len(in) {
		if !self {
			clear(v.local)
		}
		for _, u := range in {
			add(v.local, u, 1)
		}
		for i := range v.local {
			v.local[i] /= T(dense + own)
		}
		return
	}
	// Some updates are sparse: each entry has a count of its own.
	if v.sums == nil {
		v.sums, v.counts = make([]T, len(v.local)), make([]uint32, len(v.local))
	}
	for _, u := range in {
		u.each(func(i uint32, x T) {
			v.sums[i] += x
			v.counts[i]++
		})
	}
	for _, u := range in {
		u.each(func(i uint32, _ T) {
			n := v.counts[i]
			if n == 0 {
				return // written already
			}
			if self {
				v.sums[i] += v.local[i]
				n++
			}
			v.local[i] = v.sums[i] / T(n)
			v.sums[i], v.counts[i] = 0, 0
		})
	}
}

// each calls use with each entry of an update.
func (u Incoming[T]) each(use func(i uint32, x T)) {
	if u.Indices == nil {
		for i, x := range u.Values {
			use(uint32(i), x)
		}
		return
	}
	for j, i := range u.Indices {
		use(i, u.Values[j])
	}
}
