// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"math"
	"strconv"
)

// PredictionFiles are the files of -p and -r.
type PredictionFiles struct {
	Predictions *Predictions // -p; nil: none
	Raw         *Predictions // -r; nil: none
	Mute        bool         // write nothing in the current step: it has been written, or is not shown
}

// Any reports whether predictions are written.
func (f *PredictionFiles) Any() bool { return f.Predictions != nil || f.Raw != nil }

// Add writes the prediction of an example, and raw, the sum over its features.
func (f *PredictionFiles) Add(prediction, raw float32, tag []byte) error {
	if f.Predictions != nil && !f.Mute {
		if err := f.Predictions.add(prediction, tag); err != nil {
			return err
		}
	}
	if f.Raw != nil && !f.Mute {
		return f.Raw.add(raw, tag)
	}
	return nil
}

// Flush writes the buffered predictions to the outputs.
func (f *PredictionFiles) Flush() error { return errors.Join(f.Predictions.flush(), f.Raw.flush()) }

// Abort removes what was written.
func (f *PredictionFiles) Abort() {
	f.Predictions.abort()
	f.Raw.abort()
}

// Predictions writes one line per example, as vw's -p and -r do: the number, then the tag. The
// file gets its final name when it is delivered.
type Predictions struct {
	Name string
	Out  File
	w    *bufio.Writer
	sum  hash.Hash // over the bytes written: the digest that the server gets; nil: none is needed
	Buf  []byte
}

// NewPredictions creates the file.
func NewPredictions(create func(string) (File, error), name string) (*Predictions, error) {
	out, err := create(name)
	if err != nil {
		return nil, err
	}
	p := &Predictions{Name: name, Out: out, sum: sha256.New()}
	p.w = bufio.NewWriterSize(p, 1<<16)
	return p, nil
}

// OmitDigest makes a file that is never delivered, and saves the time for its digest.
func (p *Predictions) OmitDigest() { p.sum = nil }

// Write writes buffered bytes to the file and adds them to the digest.
func (p *Predictions) Write(b []byte) (int, error) {
	if p.sum != nil {
		p.sum.Write(b)
	}
	return p.Out.Write(b)
}

// add writes one line with a number.
func (p *Predictions) add(value float32, tag []byte) error {
	return p.AddLine(appendPrediction(p.Buf[:0], value), tag)
}

// AddLine writes one line with a prediction in any form. b may use the memory of p.Buf.
func (p *Predictions) AddLine(b, tag []byte) error {
	if len(tag) > 0 {
		b = append(b, ' ')
		b = append(b, tag...)
	}
	p.Buf = append(b, '\n')
	_, err := p.w.Write(p.Buf)
	return err
}

// flush writes the buffered predictions to the output. A nil receiver does nothing.
func (p *Predictions) flush() error {
	if p == nil {
		return nil
	}
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("cannot write predictions: %w", err)
	}
	return nil
}

// appendPrediction appends a number as vw prints it: with six decimals, or with none if it is
// whole.
func appendPrediction(b []byte, v float32) []byte {
	f := float64(v)
	if f == math.Trunc(f) {
		if f == 0 {
			f = 0 // vw prints no minus sign before a whole zero
		}
		return strconv.AppendFloat(b, f, 'f', 0, 64)
	}
	return strconv.AppendFloat(b, f, 'f', 6, 64)
}

// Deliver makes the file final and returns the digest of its bytes. It must not follow OmitDigest.
func (p *Predictions) Deliver() ([32]byte, error) {
	var digest [32]byte
	if err := p.flush(); err != nil {
		return digest, err
	}
	if err := p.Out.Commit(); err != nil {
		return digest, fmt.Errorf("cannot write predictions: %w", err)
	}
	p.sum.Sum(digest[:0])
	return digest, nil
}

// abort removes what was written.
func (p *Predictions) abort() {
	if p != nil {
		_ = p.Out.Abort() // the run has failed; its error is the cause
	}
}
