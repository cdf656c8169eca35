// SPDX-License-Identifier: Apache-2.0

package nn

// mean is the mean of the weights at the ends of passes.
type mean struct {
	layers [][]float32
	n      int // passes of which it is the mean
}

// include includes the weights of the layers.
func (a *mean) include(layers []*layer) {
	if a.layers == nil {
		for _, l := range layers {
			a.layers = append(a.layers, make([]float32, len(l.w)))
		}
	}
	a.n++
	share := 1 / float32(a.n)
	for i, l := range layers {
		m := a.layers[i]
		for j, w := range l.w {
			m[j] += float32(share * (w - m[j]))
		}
	}
}

// EndPass ends pass number pass, from 0: it takes a step with the examples since the last one, and with Config.Average
// includes the weights in the mean. Without Average it is Flush.
func (m *Model) EndPass(pass int) {
	m.Flush(pass)
	if m.cfg.Average && pass > 0 {
		m.mean.include(m.layers)
	}
}

// Finish makes the weights their mean at the ends of passes, from the second on, and begins a new mean. Without
// Config.Average, and after a single pass, it does nothing.
func (m *Model) Finish() {
	for i, w := range m.mean.layers {
		copy(m.layers[i].w, w)
	}
	m.mean = mean{}
}
