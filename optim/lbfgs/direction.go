// SPDX-License-Identifier: Apache-2.0

package lbfgs

// slot returns the j-th newest pair (y, s); 0 is the slot of the pair in the
// making.
func (s *Solver) slot(j int) (y, d []float32) {
	i := (s.st.Origin + j) % s.cfg.Mem
	return s.st.Y[i], s.st.S[i]
}

// direct completes the newest pair and computes the next direction by the
// two-loop recursion of Nocedal (1980), with γC for the initial matrix. Then
// it opens the next slot of the ring, which drops the oldest pair when all are
// in use. It reports false, with nothing opened, when the pair shows no
// positive curvature.
func (s *Solver) direct() bool {
	st := &s.st
	y0, s0 := s.slot(0)
	// The slot holds gradient and weights from before the step: turn them
	// into differences.
	for i, g := range s.grad {
		y0[i] = g - y0[i]
		s0[i] = st.X[i] - s0[i]
	}
	copy(st.Dir, s.grad)
	ys := dot(y0, s0)
	yCy := dotC(y0, st.Precond, y0)
	if !(ys > 0) || !(yCy > 0) {
		return false
	}
	st.Rho[0] = 1 / ys
	gamma := float32(ys / yCy)
	s.recurse(gamma)

	st.Older = min(st.Older+1, s.cfg.Mem-1)
	copy(st.Rho[1:st.Older+1], st.Rho[:st.Older])
	st.Origin = (st.Origin + s.cfg.Mem - 1) % s.cfg.Mem
	s.markStart()
	return true
}

// recurse turns the gradient in Dir into the direction. Each step over the
// pairs changes Dir and takes the dot product that the next step needs in one
// sweep over memory.
func (s *Solver) recurse(gamma float32) {
	st, dir := &s.st, s.st.Dir
	last := st.Older // index of the oldest pair, counted from the newest
	_, sj := s.slot(0)
	sq := dot(sj, dir)
	for j := 0; j < last; j++ {
		s.alpha[j] = st.Rho[j] * sq
		yj, _ := s.slot(j)
		_, sj = s.slot(j + 1)
		sq = addScaledDot(dir, -float32(s.alpha[j]), yj, sj)
	}
	s.alpha[last] = st.Rho[last] * sq
	y, _ := s.slot(last)
	addScaled(dir, dir, -float32(s.alpha[last]), y)
	for i, c := range st.Precond {
		dir[i] *= float32(gamma * c)
	}
	yr := dot(y, dir)
	for j := last; j > 0; j-- {
		_, sj = s.slot(j)
		y, _ = s.slot(j - 1)
		yr = addScaledDot(dir, float32(s.alpha[j]-float64(st.Rho[j]*yr)), sj, y)
	}
	_, sj = s.slot(0)
	a := float32(s.alpha[0] - float64(st.Rho[0]*yr))
	for i, d := range dir {
		dir[i] = -d - float32(a*sj[i])
	}
}
