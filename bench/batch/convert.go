// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/model"
)

// set is a training set in memory, features numbered as gvw does.
type set struct {
	bits   uint
	labels []float32
	begin  []int // of example i in features; one more at the end
	fs     []feature.Feature
}

const bias = feature.ConstantIndex

// readSet parses vw text.
func readSet(name string, bits uint) (*set, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := feature.NewParser(feature.Config{Bits: bits})
	if err != nil {
		return nil, err
	}
	s := &set{bits: bits, begin: []int{0}}
	var b feature.Batch
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for n := int64(1); lines.Scan(); n++ {
		b.Reset()
		if err := p.AppendLine(&b, lines.Bytes(), n); err != nil {
			return nil, err
		}
		for i := range b.Examples {
			ex := &b.Examples[i]
			s.labels = append(s.labels, ex.Label)
			s.fs = append(s.fs, b.FeaturesOf(ex)...)
			s.begin = append(s.begin, len(s.fs))
		}
	}
	return s, lines.Err()
}

// writeLibSVM writes the set in LibSVM's format for the peer. Features are numbered from 1
// without gaps. The constant is left out, because the peer adds its own. Features that share a
// weight in gvw share one in the file.
func (s *set) writeLibSVM(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	number := map[uint32]int{}
	constant := bias & uint32(1<<s.bits-1)
	type entry struct {
		k int
		v float64
	}
	var entries []entry
	var line []byte
	for i, y := range s.labels {
		entries = entries[:0]
		for _, x := range s.fs[s.begin[i]:s.begin[i+1]] {
			if x.Index == constant {
				continue
			}
			k, ok := number[x.Index]
			if !ok {
				k = len(number) + 1
				number[x.Index] = k
			}
			entries = append(entries, entry{k, float64(x.Value)})
		}
		slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.k, b.k) })
		line = strconv.AppendFloat(line[:0], float64(y), 'g', -1, 32)
		for j := 0; j < len(entries); {
			e := entries[j]
			for j++; j < len(entries) && entries[j].k == e.k; j++ {
				e.v += entries[j].v // a repeated feature counts twice
			}
			line = append(strconv.AppendInt(append(line, ' '), int64(e.k), 10), ':')
			line = strconv.AppendFloat(line, e.v, 'g', 9, 64)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// objective returns Σ log(1+exp(−yp)) + λ/2‖w‖² of a model file. The constant is not
// regularised.
func (s *set) objective(name string, lambda float64) (float64, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	m, err := model.Read(bytes.NewReader(b), model.Limits{})
	if err != nil {
		return 0, err
	}
	if m.Bits != s.bits || m.Weights.Stride > 1 {
		return 0, fmt.Errorf("%s: %d bits, stride %d: not what was trained", name, m.Bits, m.Weights.Stride)
	}
	w := m.Weights.Data
	var sum float64
	for i, y := range s.labels {
		var p float64
		for _, x := range s.fs[s.begin[i]:s.begin[i+1]] {
			p += float64(w[x.Index]) * float64(x.Value)
		}
		z := float64(y) * p
		sum += max(0, -z) + math.Log1p(math.Exp(-math.Abs(z)))
	}
	constant := bias & uint32(1<<s.bits-1)
	for i, v := range w {
		if uint32(i) != constant {
			sum += lambda / 2 * float64(v) * float64(v)
		}
	}
	return sum, nil
}
