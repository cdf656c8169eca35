// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"math"
	"strconv"
)

// predictionFiles are the files of -p and -r.
type predictionFiles struct {
	predictions *predictions // -p; nil: none
	raw         *predictions // -r; nil: none
	mute        bool         // of the step under way nothing is written: it has been, or is not shown
}

// any reports whether predictions are written.
func (f *predictionFiles) any() bool { return f.predictions != nil || f.raw != nil }

// add writes the prediction of an example. raw is the sum over its features.
func (f *predictionFiles) add(prediction, raw float32, tag []byte) error {
	if f.predictions != nil && !f.mute {
		if err := f.predictions.add(prediction, tag); err != nil {
			return err
		}
	}
	if f.raw != nil && !f.mute {
		return f.raw.add(raw, tag)
	}
	return nil
}

// flush hands what was predicted to the outputs.
func (f *predictionFiles) flush() error { return errors.Join(f.predictions.flush(), f.raw.flush()) }

// abort removes what was written.
func (f *predictionFiles) abort() {
	f.predictions.abort()
	f.raw.abort()
}

// predictions writes one line per example, as vw's -p and -r do: the number,
// then the tag. The file appears under its name only when it is delivered.
type predictions struct {
	name string
	out  file
	w    *bufio.Writer
	sum  hash.Hash // of the bytes written: the digest that the server is told
	buf  []byte
}

func newPredictions(create func(string) (file, error), name string) (*predictions, error) {
	out, err := create(name)
	if err != nil {
		return nil, err
	}
	p := &predictions{name: name, out: out, sum: sha256.New()}
	p.w = bufio.NewWriterSize(p, 1<<16)
	return p, nil
}

// Write is the buffer's way to the file: it keeps the digest.
func (p *predictions) Write(b []byte) (int, error) {
	p.sum.Write(b)
	return p.out.Write(b)
}

func (p *predictions) add(value float32, tag []byte) error {
	return p.addLine(appendPrediction(p.buf[:0], value), tag)
}

// addLine is add for a prediction of any form. b may be the predictions' buffer.
func (p *predictions) addLine(b, tag []byte) error {
	if len(tag) > 0 {
		b = append(b, ' ')
		b = append(b, tag...)
	}
	p.buf = append(b, '\n')
	_, err := p.w.Write(p.buf)
	return err
}

// flush hands what was predicted to the output. nil: there are no predictions.
func (p *predictions) flush() error {
	if p == nil {
		return nil
	}
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("cannot write predictions: %w", err)
	}
	return nil
}

// appendPrediction formats as vw does: six decimals, none for a whole number.
func appendPrediction(b []byte, v float32) []byte {
	f := float64(v)
	if f == math.Trunc(f) {
		if f == 0 {
			f = 0 // vw prints no minus sign before a zero without decimals
		}
		return strconv.AppendFloat(b, f, 'f', 0, 64)
	}
	return strconv.AppendFloat(b, f, 'f', 6, 64)
}

// deliver makes the file final and returns the digest of its bytes.
func (p *predictions) deliver() ([32]byte, error) {
	var digest [32]byte
	if err := p.flush(); err != nil {
		return digest, err
	}
	if err := p.out.Commit(); err != nil {
		return digest, fmt.Errorf("cannot write predictions: %w", err)
	}
	p.sum.Sum(digest[:0])
	return digest, nil
}

// abort removes what was written.
func (p *predictions) abort() {
	if p != nil {
		_ = p.out.Abort() // the run has failed already; its error is the one to tell
	}
}
