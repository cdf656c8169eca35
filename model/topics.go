// SPDX-License-Identifier: Apache-2.0

package model

import (
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
		return 0, fmt.Errorf("model: got a slice of %d numbers, want %d topics for each of 2^%d words", len(dst), k, d.Header.Bits)
	}
	return d.readRows(dst, k, k)
}

// WriteTopics writes a topic model as vw does: all words, each with an index of 8 bytes.
func WriteTopics(w io.Writer, t *Topics) error {
	return t.write(w, appendHeader(nil, &t.Header), appendRow)
}

// WriteTopicsReadable writes the text of --readable_model: a line of λ with six digits for each
// word.
func WriteTopicsReadable(w io.Writer, t *Topics) error {
	eta := float32(t.Eta())
	shifted := func(dst []byte, v float64, _ int) []byte { return AppendFloat(dst, float64(float32(v)+eta)) }
	return t.write(w, appendReadableHeader(nil, &t.Header, appendRounded), textRow(shifted))
}

// write writes a header and the row of each word.
func (t *Topics) write(w io.Writer, head []byte, record func(dst []byte, i int, row []float32) []byte) error {
	if err := t.check(); err != nil {
		return err
	}
	return writeRows(w, head, t.Weights, int(t.LDA), int(t.LDA), record)
}

// check reports all that cannot be written.
func (t *Topics) check() error {
	if err := t.CheckHeader(); err != nil {
		return err
	}
	if t.LDA < 1 || t.LDA > maxTopics || len(t.Weights) != int(t.LDA)<<t.Bits {
		return fmt.Errorf("model: %d numbers of a model of 2^%d words with %d topics: want 1 to %d topics, and as many numbers for each word", len(t.Weights), t.Bits, t.LDA, maxTopics)
	}
	return nil
}

// topics returns a model with topics as Topics.
func (r *Regressor) topics() *Topics { return &Topics{Header: r.Header, Weights: r.Weights.Data} }
