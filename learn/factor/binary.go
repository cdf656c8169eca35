// SPDX-License-Identifier: Apache-2.0

package factor

import (
	"fmt"

	"github.com/gvw-project/gvw/learn/internal/modelbytes"
)

// magic begins an encoded model.
const magic = "gvwfac01"

// state is the configuration of an encoded model.
type state struct {
	Config
	HasUserIDs, HasItemIDs bool
}

// AppendBinary appends the model.
func (m *Model) AppendBinary(dst []byte) ([]byte, error) {
	e, err := modelbytes.NewEncoder(dst, magic, state{m.cfg, m.cfg.UserIDs != nil, m.cfg.ItemIDs != nil})
	if err != nil {
		return nil, fmt.Errorf("factor: %w", err)
	}
	e.Uint32s(m.cfg.UserIDs)
	e.Uint32s(m.cfg.ItemIDs)
	e.Float32s(m.users)
	e.Float32s(m.items)
	return e.Bytes(), nil
}

// UnmarshalBinary replaces the model by an encoded one.
func (m *Model) UnmarshalBinary(data []byte) error {
	read, err := decode(data)
	if err != nil {
		return fmt.Errorf("factor: %w", err)
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
	if s.HasUserIDs {
		if s.UserIDs, err = d.Uint32s(s.Users); err != nil {
			return nil, err
		}
	}
	if s.HasItemIDs {
		if s.ItemIDs, err = d.Uint32s(s.Items); err != nil {
			return nil, err
		}
	}
	if s.UserRows, err = d.Float32s(s.Users * s.RowSize()); err != nil {
		return nil, err
	}
	if s.ItemRows, err = d.Float32s(s.Items * s.RowSize()); err != nil {
		return nil, err
	}
	if err := d.End(); err != nil {
		return nil, err
	}
	s.Continue = true
	return New(s.Config)
}
