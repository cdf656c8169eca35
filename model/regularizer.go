// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// Regularizer is vw's --output_feature_regularizer_binary: a λ and a centre of
// each weight, in a file with the header of a model that keeps --bfgs. Element
// 2i of its body is λ of weight i, element 2i+1 the centre; zeros are left out.
type Regularizer struct {
	Header
	Precision, Mean []float32 // 2^Bits elements each
}

func (r *Regularizer) check() error {
	if n := 1 << r.Bits; len(r.Precision) != n || len(r.Mean) != n {
		return fmt.Errorf("model: %d and %d regularisers do not go with 2^%d weights", len(r.Precision), len(r.Mean), r.Bits)
	}
	if r.Bits > maxRegularizerBits {
		return fmt.Errorf("model: the regularisers of 2^%d weights have no place in vw's 32-bit numbers: use %d bits or less", r.Bits, maxRegularizerBits)
	}
	return r.CheckHeader()
}

// maxRegularizerBits bounds the table so that the indices of two values per weight fit vw's
// 32-bit numbers.
const maxRegularizerBits = 30

// head returns the header, which always keeps --bfgs or --conjugate_gradient: vw
// recognises the kind of file by them.
func (r *Regularizer) head() Header {
	h := r.Header
	if h.Kind() != BFGS {
		h.Options = append(slices.Clip(h.Options), Option{Name: "bfgs"})
	}
	return h
}

// elements calls f for each element that is not 0, in order, until it fails.
func (r *Regularizer) elements(f func(i uint32, v float32) error) error {
	for i, lambda := range r.Precision {
		for k, v := range [2]float32{lambda, r.Mean[i]} {
			if v == 0 {
				continue
			}
			if err := f(uint32(2*i+k), v); err != nil {
				return fmt.Errorf("model: cannot write the regularisers: %w", err)
			}
		}
	}
	return nil
}

// WriteRegularizer writes the binary form.
func WriteRegularizer(w io.Writer, r *Regularizer) error {
	if err := r.check(); err != nil {
		return err
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	h := r.head()
	if _, err := bw.Write(append(appendHeader(nil, &h), 1)); err != nil {
		return fmt.Errorf("model: cannot write the header: %w", err)
	}
	var rec [8]byte
	err := r.elements(func(i uint32, v float32) error {
		binary.LittleEndian.PutUint32(rec[:], i)
		binary.LittleEndian.PutUint32(rec[4:], math.Float32bits(v))
		_, err := bw.Write(rec[:])
		return err
	})
	if err != nil {
		return err
	}
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("model: cannot write the regularisers: %w", err)
	}
	return nil
}

// WriteRegularizerText writes the readable form: vw's
// --output_feature_regularizer_text.
func WriteRegularizerText(w io.Writer, r *Regularizer) error {
	if err := r.check(); err != nil {
		return err
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	h := r.head()
	line := append(appendReadableHeader(nil, &h, appendRounded), ":1\n"...)
	if _, err := bw.Write(line); err != nil {
		return fmt.Errorf("model: cannot write the header: %w", err)
	}
	err := r.elements(func(i uint32, v float32) error {
		line = strconv.AppendUint(line[:0], uint64(i), 10)
		line = append(line, ':')
		line = AppendFloat(line, float64(v))
		_, err := bw.Write(append(line, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("model: cannot write the regularisers: %w", err)
	}
	return nil
}

// ReadRegularizer reads a file that WriteRegularizer or vw has written.
func ReadRegularizer(rd io.Reader, lim Limits) (*Regularizer, error) {
	d, err := NewDecoder(rd, lim)
	if err != nil {
		return nil, err
	}
	if !d.Regularizer {
		return nil, fail(d.offset, "resume flag", ErrNotModel, "this is a model, and no file of per-feature regularisers: load it with learn.Config.Model.Initial")
	}
	if d.Header.Bits > maxRegularizerBits {
		return nil, fail(d.offset, "bits", ErrLimit, "%d, at most %d with per-feature regularisers", d.Header.Bits, maxRegularizerBits)
	}
	n := 1 << d.Header.Bits
	r := &Regularizer{Header: d.Header, Precision: make([]float32, n), Mean: make([]float32, n)}
	var rec [8]byte
	for {
		if _, err := d.r.Peek(1); err == io.EOF {
			return r, nil
		}
		at := d.offset
		if err := d.fill(rec[:], "regularisers"); err != nil {
			return nil, err
		}
		i, v := binary.LittleEndian.Uint32(rec[:]), math.Float32frombits(binary.LittleEndian.Uint32(rec[4:]))
		if int64(i) >= 2*int64(n) {
			return nil, fail(at, "regularisers", ErrDamaged, "number %d, but 2^%d weights have %d", i, d.Header.Bits, 2*n)
		}
		if i%2 == 0 {
			r.Precision[i/2] = v
		} else {
			r.Mean[i/2] = v
		}
	}
}
