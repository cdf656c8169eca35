// SPDX-License-Identifier: Apache-2.0

package svm

import (
	"fmt"

	"github.com/gvw-project/gvw/learn/internal/modelbytes"
)

// magic begins an encoded model.
const magic = "gvwsvm01"

// AppendBinary appends the model with the weights by which it predicts. A model that
// continues from them begins a new mean.
func (m *Model) AppendBinary(dst []byte) ([]byte, error) {
	e, err := modelbytes.NewEncoder(dst, magic, m.Config())
	if err != nil {
		return nil, fmt.Errorf("svm: %w", err)
	}
	w := make([]float32, len(m.v))
	for i, v := range m.v {
		if a := &m.mean; a.n > 0 {
			w[i] = float32(a.alpha * (a.u[i] + float64(a.beta*float64(v))))
		} else {
			w[i] = float32(m.scale * float64(v))
		}
	}
	e.Float32s(w)
	return e.Bytes(), nil
}

// UnmarshalBinary replaces the model by an encoded one.
func (m *Model) UnmarshalBinary(data []byte) error {
	var c Config
	d, err := modelbytes.Decode(data, magic, &c)
	if err == nil {
		err = c.Validate()
	}
	if err == nil {
		c.Weights, err = d.Float32s(c.Size)
	}
	if err == nil {
		err = d.End()
	}
	if err != nil {
		return fmt.Errorf("svm: %w", err)
	}
	read, err := New(c)
	if err != nil {
		return err
	}
	*m = *read
	return nil
}
