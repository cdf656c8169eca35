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
	"strings"
)

// Topics is a topic model, as --lda makes it. Header.LDA is the number of topics K.
type Topics struct {
	Header
	// Weights has K numbers for each of the 2^Bits words, those of word i at Weights[i·K:]. A
	// number is λ - η: the parameter of the topic's Dirichlet posterior, less its prior Eta.
	Weights []float32
}

// maxTopics is the largest number of topics in a file, so that a row fits the reader's buffer.
const maxTopics = 1 << 16

// defaultPrior is vw's default of --lda_alpha and --lda_rho.
const defaultPrior = 0.1

// Alpha returns the prior of a document's share of each topic, --lda_alpha, or the mean of learned ones.
func (h *Header) Alpha() float64 { return h.prior("lda_alpha") }

// alphasOption is the kept option with the learned priors of all topics, separated by commas. vw
// does not have it.
const alphasOption = "lda_alphas"

// Alphas returns the prior of a document's share of each of the LDA topics: the learned ones, or
// Alpha for each.
func (h *Header) Alphas() ([]float64, error) {
	kept := h.Values(alphasOption)
	if len(kept) == 0 {
		return slices.Repeat([]float64{h.Alpha()}, int(h.LDA)), nil
	}
	texts := strings.Split(kept[0], ",")
	if len(texts) != int(h.LDA) {
		return nil, fmt.Errorf("model: kept option --%s has %d numbers, want one for each of %d topics", alphasOption, len(texts), h.LDA)
	}
	alphas := make([]float64, len(texts))
	for k, text := range texts {
		v, err := strconv.ParseFloat(text, 32)
		if err != nil || !(v > 0 && v <= math.MaxFloat32) {
			return nil, fmt.Errorf("model: kept option --%s has %q, want a number above 0", alphasOption, text)
		}
		alphas[k] = v
	}
	return alphas, nil
}

// LearnsAlpha reports whether the priors of a document's shares were learned.
func (h *Header) LearnsAlpha() bool { return h.Has(alphasOption) }

// SetAlphas keeps learned priors, one for each topic. --lda_alpha becomes their mean.
func (h *Header) SetAlphas(alphas []float64) {
	sum := 0.0
	var text []byte
	for k, a := range alphas {
		sum += a
		if k > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendFloat(text, a, 'g', -1, 32)
	}
	kept := slices.DeleteFunc(slices.Clone(h.Options), func(o Option) bool { return o.Name == "lda_alpha" || o.Name == alphasOption })
	h.Options = append(kept, FloatOption("lda_alpha", float32(sum/float64(len(alphas)))), Option{Name: alphasOption, Value: string(text)})
}

// Eta returns the prior of a topic's share of each word, --lda_rho.
func (h *Header) Eta() float64 { return h.prior("lda_rho") }

// prior returns the number of a kept option, or vw's default.
func (h *Header) prior(name string) float64 {
	for _, o := range h.Options {
		if o.Name == name {
			if v, err := strconv.ParseFloat(o.Value, 32); err == nil && v > 0 {
				return float64(float32(v))
			}
		}
	}
	return float64(float32(defaultPrior))
}

// ReadTopics reads a whole file of a topic model.
func ReadTopics(r io.Reader, lim Limits) (*Topics, error) {
	d, err := NewDecoder(r, lim)
	if err != nil {
		return nil, err
	}
	t := &Topics{Header: d.Header}
	if d.Header.LDA > 0 {
		t.Weights = make([]float32, int(d.Header.LDA)<<d.Header.Bits)
	}
	if _, err := d.Topics(t.Weights); err != nil {
		return nil, err
	}
	return t, nil
}

// Topics reads the numbers of a topic model into dst, which holds Header.LDA of them for each of
// 2^Header.Bits words, and returns the number of words in the file. Words that the file lacks
// keep their values. It can be called once, instead of Weights.
func (d *Decoder) Topics(dst []float32) (int, error) {
	k := int(d.Header.LDA)
	switch {
	case k == 0:
		return 0, fail(d.offset, "lda", ErrNotModel, "this is a model of weights: give a topic model")
	case d.done:
		return 0, fmt.Errorf("model: the weights were read already")
	case len(dst) != k<<d.Header.Bits:
		return 0, fmt.Errorf("model: got room for %d numbers, want that of 2^%d words with %d topics", len(dst), d.Header.Bits, k)
	}
	d.done = true
	record := make([]byte, 8+4*k)
	for n := 0; ; n++ {
		switch got, err := io.ReadFull(d.r, record); {
		case err == io.EOF:
			return n, nil
		case err == io.ErrUnexpectedEOF:
			return n, fail(d.offset, "weights", ErrTruncated, "%d bytes follow %d words of %d bytes: the file was not written or copied to its end", got, n, len(record))
		case err != nil:
			return n, fail(d.offset, "weights", err, "")
		}
		i := binary.LittleEndian.Uint64(record)
		if i >= 1<<d.Header.Bits {
			return n, fail(d.offset, "weights", ErrDamaged, "word %d has index %d, but the model has 2^%d words", n+1, i, d.Header.Bits)
		}
		row := dst[int(i)*k:][:k]
		for j := range row {
			row[j] = math.Float32frombits(binary.LittleEndian.Uint32(record[8+4*j:]))
		}
		d.offset += int64(len(record))
	}
}

// WriteTopics writes a topic model as vw does: all words, each with an index of 8 bytes.
func WriteTopics(w io.Writer, t *Topics) error {
	var record []byte
	return t.write(w, appendHeader(nil, &t.Header), func(i int, row []float32) []byte {
		record = binary.LittleEndian.AppendUint64(record[:0], uint64(i))
		for _, v := range row {
			record = binary.LittleEndian.AppendUint32(record, math.Float32bits(v))
		}
		return record
	})
}

// WriteTopicsReadable writes the text of --readable_model: a line of λ with six digits for each
// word.
func WriteTopicsReadable(w io.Writer, t *Topics) error {
	var line []byte
	eta := float32(t.Eta())
	return t.write(w, appendReadableHeader(nil, &t.Header, appendRounded), func(i int, row []float32) []byte {
		line = append(strconv.AppendInt(line[:0], int64(i), 10), ' ')
		for _, v := range row {
			line = append(AppendFloat(line, float64(v+eta)), ' ')
		}
		return append(line, '\n')
	})
}

// write writes a header and the row of each word.
func (t *Topics) write(w io.Writer, head []byte, row func(i int, row []float32) []byte) error {
	if err := t.check(); err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	_, err := b.Write(head)
	for i, k := 0, int(t.LDA); err == nil && i*k < len(t.Weights); i++ {
		_, err = b.Write(row(i, t.Weights[i*k:][:k]))
	}
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return fmt.Errorf("model: cannot write the topic model: %w", err)
	}
	return nil
}

// check reports all that cannot be written.
func (t *Topics) check() error {
	if err := t.Header.check(); err != nil {
		return err
	}
	if t.LDA < 1 || t.LDA > maxTopics || len(t.Weights) != int(t.LDA)<<t.Bits {
		return fmt.Errorf("model: %d numbers of a model of 2^%d words with %d topics: want 1 to %d topics, and as many numbers for each word", len(t.Weights), t.Bits, t.LDA, maxTopics)
	}
	return nil
}

// topics returns a model with topics as Topics.
func (r *Regressor) topics() *Topics { return &Topics{Header: r.Header, Weights: r.Weights.Data} }
