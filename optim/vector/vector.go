// SPDX-License-Identifier: Apache-2.0

package vector

import "github.com/gvw-project/gvw/internal/mem"

// blockLen is the length of a block of a sum.
const blockLen = 1 << 16

// Dot returns x'y. It is, for each block,
//
//	for i := range x { lane[i%4] += float64(x[i]) * float64(y[i]) }
//	sum += (lane[0] + lane[1]) + (lane[2] + lane[3])
func Dot(x, y []float32) float64 {
	if parallel(len(x)) {
		return sumBlocks(len(x), func(lo, hi int) float64 { return dotBlock(x[lo:hi], y[lo:hi]) })
	}
	var sum float64
	for lo := 0; lo < len(x); lo += blockLen {
		hi := min(lo+blockLen, len(x))
		sum += dotBlock(x[lo:hi], y[lo:hi])
	}
	return sum
}

func dotBlock(x, y []float32) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		u, v := x[i:i+4:i+4], y[i:i+4:i+4]
		a += float64(u[0]) * float64(v[0])
		b += float64(u[1]) * float64(v[1])
		c += float64(u[2]) * float64(v[2])
		d += float64(u[3]) * float64(v[3])
	}
	lane := [4]float64{a, b, c, d}
	for ; i < len(x); i++ {
		lane[i%4] += float64(x[i]) * float64(y[i])
	}
	return (lane[0] + lane[1]) + (lane[2] + lane[3])
}

// DotDiag returns x'Cy for the diagonal C, with the lanes of Dot.
func DotDiag(x, c, y []float32) float64 {
	if parallel(len(x)) {
		return sumBlocks(len(x), func(lo, hi int) float64 { return dotDiagBlock(x[lo:hi], c[lo:hi], y[lo:hi]) })
	}
	var sum float64
	for lo := 0; lo < len(x); lo += blockLen {
		hi := min(lo+blockLen, len(x))
		sum += dotDiagBlock(x[lo:hi], c[lo:hi], y[lo:hi])
	}
	return sum
}

func dotDiagBlock(x, c, y []float32) float64 {
	var s0, s1, s2, s3 float64
	c, y = c[:len(x)], y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		u, v, w := x[i:i+4:i+4], y[i:i+4:i+4], c[i:i+4:i+4]
		// Three factors are not exact: round after each product.
		s0 += float64(float64(u[0]) * float64(v[0]) * float64(w[0]))
		s1 += float64(float64(u[1]) * float64(v[1]) * float64(w[1]))
		s2 += float64(float64(u[2]) * float64(v[2]) * float64(w[2]))
		s3 += float64(float64(u[3]) * float64(v[3]) * float64(w[3]))
	}
	lane := [4]float64{s0, s1, s2, s3}
	for ; i < len(x); i++ {
		lane[i%4] += float64(float64(x[i]) * float64(y[i]) * float64(c[i]))
	}
	return (lane[0] + lane[1]) + (lane[2] + lane[3])
}

// AddScaled sets dst[i] = x[i] + a·d[i]; dst may be x.
func AddScaled(dst, x []float32, a float32, d []float32) {
	if parallel(len(dst)) {
		eachBlock(len(dst), func(lo, hi int) { addScaled(dst[lo:hi], x[lo:hi], a, d[lo:hi]) })
		return
	}
	addScaled(dst, x, a, d)
}

func addScaled(dst, x []float32, a float32, d []float32) {
	x, d = x[:len(dst)], d[:len(dst)]
	for i := range dst {
		dst[i] = x[i] + float32(a*d[i])
	}
}

// AddScaledDot sets dst[i] += a·d[i] and returns dst'z as Dot does: one step
// of the two-loop recursion and the sum that the next one needs.
func AddScaledDot(dst []float32, a float32, d, z []float32) float64 {
	if parallel(len(dst)) {
		return sumBlocks(len(dst), func(lo, hi int) float64 { return addScaledDotBlock(dst[lo:hi], a, d[lo:hi], z[lo:hi]) })
	}
	var sum float64
	for lo := 0; lo < len(dst); lo += blockLen {
		hi := min(lo+blockLen, len(dst))
		sum += addScaledDotBlock(dst[lo:hi], a, d[lo:hi], z[lo:hi])
	}
	return sum
}

func addScaledDotBlock(dst []float32, a float32, d, z []float32) float64 {
	var s0, s1, s2, s3 float64
	d, z = d[:len(dst)], z[:len(dst)]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		w, u, v := dst[i:i+4:i+4], d[i:i+4:i+4], z[i:i+4:i+4]
		w[0] += float32(a * u[0])
		w[1] += float32(a * u[1])
		w[2] += float32(a * u[2])
		w[3] += float32(a * u[3])
		s0 += float64(w[0]) * float64(v[0])
		s1 += float64(w[1]) * float64(v[1])
		s2 += float64(w[2]) * float64(v[2])
		s3 += float64(w[3]) * float64(v[3])
	}
	lane := [4]float64{s0, s1, s2, s3}
	for ; i < len(dst); i++ {
		dst[i] += float32(a * d[i])
		lane[i%4] += float64(dst[i]) * float64(z[i])
	}
	return (lane[0] + lane[1]) + (lane[2] + lane[3])
}

// Each calls f for parts [lo, hi) that together cover n elements, perhaps at
// the same time: for maps from elements to elements.
func Each(n int, f func(lo, hi int)) {
	if parallel(n) {
		eachBlock(n, f)
		return
	}
	f(0, n)
}

// FirstWild returns the index of the first element that is infinite or not a
// number, -1 if all are finite.
func FirstWild(x []float32) int {
	for lo, hi := range mem.Touched(x) {
		for i := lo; i < hi; i++ {
			switch v := x[i]; {
			case v-v != 0:
				return i
			case v == 0:
				i += mem.Zeros(x[i+1 : hi])
			}
		}
	}
	return -1
}

// DotDiagFrom returns Σ c[i]·(x[i]−m[i])², with the lanes of Dot; m nil stands
// for zeros.
func DotDiagFrom(x, m, c []float32) float64 {
	var sum float64
	for lo := 0; lo < len(x); lo += blockLen {
		hi := min(lo+blockLen, len(x))
		var lane [4]float64
		for i := lo; i < hi; i++ {
			e := x[i]
			if m != nil {
				e -= m[i]
			}
			lane[i%4] += float64(float64(e) * float64(e) * float64(c[i]))
		}
		sum += (lane[0] + lane[1]) + (lane[2] + lane[3])
	}
	return sum
}

// Mix sets dst[i] = c[i]·x[i] + b·dst[i].
func Mix(dst []float32, b float32, c, x []float32) {
	if parallel(len(dst)) {
		eachBlock(len(dst), func(lo, hi int) { mix(dst[lo:hi], b, c[lo:hi], x[lo:hi]) })
		return
	}
	mix(dst, b, c, x)
}

func mix(dst []float32, b float32, c, x []float32) {
	c, x = c[:len(dst)], x[:len(dst)]
	for i := range dst {
		dst[i] = float32(c[i]*x[i]) + float32(b*dst[i])
	}
}
