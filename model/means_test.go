// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// meansSection returns a section of --marginal with the ids 3 and 5, and their experts if experts is set.
func meansSection(experts bool) []byte {
	le := binary.LittleEndian
	p := le.AppendUint64(nil, 2)
	for _, id := range []uint64{3, 5} {
		p = append(le.AppendUint64(p, id), make([]byte, 16)...)
	}
	if !experts {
		return p
	}
	p = le.AppendUint64(p, 2)
	for _, id := range []uint64{5, 3} { // in any order
		p = append(le.AppendUint64(p, id), make([]byte, 24)...)
	}
	return p
}

// meansModel returns a model of 16 weights with the section.
func meansModel(section []byte, resume *Resume) *Regressor {
	return &Regressor{
		Header:  Header{Version: "9.11.9", Bits: 4, Options: []Option{{"marginal", "m"}}},
		Section: section, Resume: resume,
		Weights: View{Data: make([]float32, 4*16), Stride: 4, Slots: []int{0, 1, 2}},
	}
}

// The section of --marginal is read back with its experts and without, though the model's options
// are the same.
func TestSectionOfMeans(t *testing.T) {
	none := binary.LittleEndian.AppendUint64(nil, 0)
	for name, section := range map[string][]byte{
		"means": meansSection(false), "experts": meansSection(true),
		"nothing": none, "no experts": append(none, none...),
	} {
		for _, resume := range []*Resume{nil, {Contraction: 1}} {
			var b bytes.Buffer
			m := meansModel(section, resume)
			if resume == nil {
				m.Weights.Slots = m.Weights.Slots[:1]
			}
			if err := Write(&b, m); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := Read(&b, Limits{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := cmp.Diff(section, got.Section); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

// A damaged number of ids is an error, for which nothing is allocated.
func TestDamagedSectionOfMeans(t *testing.T) {
	section := meansSection(false)
	var b bytes.Buffer
	if err := Write(&b, meansModel(section, &Resume{Contraction: 1})); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	at := bytes.Index(file, section)
	if _, err := Read(bytes.NewReader(file[:at+20]), Limits{}); !errors.Is(err, ErrTruncated) {
		t.Errorf("a section that is cut off: got error %v, want ErrTruncated", err)
	}
	file[at+7] = 1
	if _, err := Read(bytes.NewReader(file), Limits{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("2^56 ids: got error %v, want ErrDamaged", err)
	}
}
