// SPDX-License-Identifier: Apache-2.0

package pack

// selection finds the largest values of a vector. It keeps its memory.
type selection[T Element] struct{ magnitudes []T }

// largest appends the indices of the k values of largest magnitude, ascending. Among equal
// magnitudes the lower indices are taken. All values are finite, and 0 < k < len(values).
func (s *selection[T]) largest(dst []uint32, values []T, k int) []uint32 {
	s.magnitudes = s.magnitudes[:0]
	for _, v := range values {
		s.magnitudes = append(s.magnitudes, max(v, -v))
	}
	threshold := kth(s.magnitudes, k)
	ties := k
	for _, v := range values {
		if max(v, -v) > threshold {
			ties--
		}
	}
	for i, v := range values {
		switch m := max(v, -v); {
		case m > threshold:
			dst = append(dst, uint32(i))
		case m == threshold && ties > 0:
			ties--
			dst = append(dst, uint32(i))
		}
	}
	return dst
}

// kth returns the k-th largest of some values, counted from 1, and changes their order. Its
// time is linear on average (Hoare, "Algorithm 65: Find", 1961).
func kth[T Element](v []T, k int) T {
	for lo, hi := 0, len(v)-1; ; {
		if lo >= hi {
			return v[k-1]
		}
		a, b, c := v[lo], v[lo+(hi-lo)/2], v[hi]
		pivot := max(min(a, b), min(max(a, b), c)) // the median of three
		i, j := lo, hi
		for i <= j {
			for v[i] > pivot {
				i++
			}
			for v[j] < pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k-1 <= j:
			hi = j
		case k-1 >= i:
			lo = i
		default:
			return v[k-1]
		}
	}
}
