// SPDX-License-Identifier: Apache-2.0

package lbfgs

// The kernels read each vector once. Sums over weights are taken in blocks of
// blockLen elements, each block in four interleaved lanes that are added as
// (0+1)+(2+3), the blocks one after the other: the order of additions depends
// on the length alone, and blocks may be worked by several threads without
// changing it.
const blockLen = 1 << 16

// dot returns x'y. It is, for each block,
//
//	for i := range x { lane[i%4] += float64(x[i]) * float64(y[i]) }
//	sum += (lane[0] + lane[1]) + (lane[2] + lane[3])
//
// The products are exact in float64.
func dot(x, y []float32) float64 {
	var sum float64
	for len(x) > 0 {
		n := min(blockLen, len(x))
		sum += dotBlock(x[:n], y[:n])
		x, y = x[n:], y[n:]
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

// dotC returns x'Cy for the diagonal C.
func dotC(x, c, y []float32) float64 {
	var sum float64
	for len(x) > 0 {
		n := min(blockLen, len(x))
		var lane [4]float64
		for i, xi := range x[:n] {
			// Three factors are not exact: round after each product.
			lane[i%4] += float64(float64(xi) * float64(y[i]) * float64(c[i]))
		}
		sum += (lane[0] + lane[1]) + (lane[2] + lane[3])
		x, c, y = x[n:], c[n:], y[n:]
	}
	return sum
}

// addScaled sets dst[i] = x[i] + a·d[i]; dst may be x.
func addScaled(dst, x []float32, a float32, d []float32) {
	x, d = x[:len(dst)], d[:len(dst)]
	for i := range dst {
		dst[i] = x[i] + float32(a*d[i])
	}
}

// addScaledDot sets dst[i] += a·d[i] and returns dst'z: one step of the
// two-loop recursion and the sum that the next one needs.
func addScaledDot(dst []float32, a float32, d, z []float32) float64 {
	var sum float64
	for len(dst) > 0 {
		n := min(blockLen, len(dst))
		sum += addScaledDotBlock(dst[:n], a, d[:n], z[:n])
		dst, d, z = dst[n:], d[n:], z[n:]
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

// regularise sets dst = g + λx and returns λ/2·x'x.
func regularise(dst, g, x []float32, lambda float64) float64 {
	if lambda == 0 {
		copy(dst, g)
		return 0
	}
	addScaled(dst, g, float32(lambda), x)
	return float64(0.5 * lambda * dot(x, x))
}

// maxRatio bounds the preconditioner against its inverse's greatest element.
const maxRatio = 10_000

// precondition sets dst[i] = 1/(h[i]+λ), at most maxRatio over the greatest
// h+λ, and 0 where h+λ is 0.
func precondition(dst, h []float32, lambda float64) {
	l := float32(lambda)
	var most float32
	for i, hi := range h[:len(dst)] {
		v := hi + l
		most = max(most, v)
		if v > 0 {
			v = 1 / v
		}
		dst[i] = v
	}
	if most == 0 {
		clear(dst)
		return
	}
	limit := maxRatio / most
	for i, c := range dst {
		if c > limit {
			dst[i] = limit
		}
	}
}
