// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"fmt"

	"github.com/gvw-project/gvw/learn/internal/modelbytes"
)

// magic begins an encoded model.
const magic = "gvwnn_01"

// state is the configuration of an encoded model.
type state struct {
	Config
	HasCenter, HasScale, HasInputIDs bool
	Levels                           int `json:",omitempty"` // of Quantiles, for each input
}

// AppendBinary appends the model. The state of the rule of steps is left out: a model that continues begins it again.
func (m *Model) AppendBinary(dst []byte) ([]byte, error) {
	e, err := modelbytes.NewEncoder(dst, magic, state{
		m.cfg, m.cfg.Center != nil, m.cfg.Scale != nil, m.cfg.InputIDs != nil, len(m.cfg.Quantiles) / m.cfg.Inputs,
	})
	if err != nil {
		return nil, fmt.Errorf("nn: %w", err)
	}
	e.Uint32s(m.cfg.InputIDs)
	e.Float32s(m.cfg.Center)
	e.Float32s(m.cfg.Scale)
	e.Float32s(m.cfg.Quantiles)
	for _, l := range m.layers {
		e.Float32s(l.w)
	}
	return e.Bytes(), nil
}

// UnmarshalBinary replaces the model by an encoded one.
func (m *Model) UnmarshalBinary(data []byte) error {
	read, err := decode(data)
	if err != nil {
		return fmt.Errorf("nn: %w", err)
	}
	*m = *read
	return nil
}

func decode(data []byte) (*Model, error) {
	var s state
	d, err := modelbytes.Decode(data, magic, &s)
	if err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.HasInputIDs {
		if s.InputIDs, err = d.Uint32s(s.Inputs); err != nil {
			return nil, err
		}
	}
	if s.HasCenter {
		if s.Center, err = d.Float32s(s.Inputs); err != nil {
			return nil, err
		}
	}
	if s.HasScale {
		if s.Scale, err = d.Float32s(s.Inputs); err != nil {
			return nil, err
		}
	}
	if s.Levels != 0 {
		if s.Levels < 0 || s.Levels > len(data) || s.Inputs > len(data) {
			return nil, fmt.Errorf("got %d levels of %d inputs in %d bytes", s.Levels, s.Inputs, len(data))
		}
		if s.Quantiles, err = d.Float32s(s.Inputs * s.Levels); err != nil {
			return nil, err
		}
	}
	for i := range s.Layers() {
		size, _ := s.LayerSize(i)
		w, err := d.Float32s(size)
		if err != nil {
			return nil, err
		}
		s.Weights = append(s.Weights, w)
	}
	if err := d.End(); err != nil {
		return nil, err
	}
	s.Continue = true
	return New(s.Config)
}
