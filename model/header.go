// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Version is the version that Write puts into files: of the layout that vw
// 9.0 and later read.
const Version = "9.11.9"

// maxBits is the greatest number of bits that vw's hashes have room for.
const maxBits = 32

// Header is the part of a file before its weights.
type Header struct {
	Version            string // of the writer; set by reading, ignored by writing
	ID                 string // --id
	MinLabel, MaxLabel float32
	Bits               uint   // there are 2^Bits weights
	LDA                uint32 // topics; 0: not a topic model
	NGrams, Skips      []string
	Options            []Option // kept options, in any order; written in vw's order
}

// Kind is the learner that wrote a file.
type Kind uint8

const (
	GD   Kind = iota // gradient descent; the file may carry resume state
	BFGS             // L-BFGS or conjugate gradients; never with resume state
)

// Kind returns the learner with which vw would load the file. vw 9 loads a file that
// keeps --bfgs only under --predict_only_model; a file without it that L-BFGS
// made is a file of GD for prediction only, and loads anywhere.
func (h *Header) Kind() Kind {
	if h.Has("bfgs") || h.Has("conjugate_gradient") {
		return BFGS
	}
	return GD
}

// CheckBits returns an error unless the model has the given number of bits.
func (h *Header) CheckBits(given uint) error {
	if h.Bits != given {
		return fmt.Errorf("model: trained with %d bits, but %d were given: leave the number out or use %d", h.Bits, given, h.Bits)
	}
	return nil
}

// CheckHeader reports all of the header that cannot be written.
func (h *Header) CheckHeader() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("model: "+format, args...)) }
	if h.Bits < 1 || h.Bits > maxBits {
		fault("%d bits, want 1 to %d", h.Bits, maxBits)
	}
	if strings.ContainsAny(h.ID, "\x00\n") || len(h.ID) >= maxText {
		fault("id %.20q: want less than %d bytes, no NUL, no newline", h.ID, maxText)
	}
	for _, list := range [][]string{h.NGrams, h.Skips} {
		for _, s := range list {
			if len(s) == 0 || len(s) > 2 || strings.ContainsAny(s, "\x00\n ") {
				fault("n-gram or skip %q: a file has room for one or two characters", s)
			}
		}
	}
	for _, o := range h.Options {
		if err := o.check(); err != nil {
			errs = append(errs, err)
		}
	}
	if text := AppendOptions(nil, h.Options); len(text) >= maxText {
		longest := slices.MaxFunc(h.Options, func(a, b Option) int { return cmp.Compare(len(a.Value), len(b.Value)) })
		fault("%d bytes of options, at most %d: give fewer or shorter ones; the longest is --%s with %d", len(text), maxText-1, longest.Name, len(longest.Value))
	}
	return errors.Join(errs...)
}
