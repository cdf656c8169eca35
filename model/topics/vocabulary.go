// SPDX-License-Identifier: Apache-2.0

package topics

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
)

// IDs is how a vocabulary's lines are numbered.
type IDs int

const (
	ByLine   IDs = iota // word i is in line i+1, as in data with numbers for words
	ByHash              // by vw's hash of the name, NAMESPACE^WORD outside the default namespace
	ByColumn            // the line has the number after the word
)

// IDNames are the names of the constants in their order.
var IDNames = []string{"line", "hash", "column"}

// maxWord is the longest line of a vocabulary, in bytes.
const maxWord = 1 << 16

// Vocabulary has the names of a model's words.
type Vocabulary struct {
	names map[uint32][]string
	known map[string]uint32 // number of the word of a name
}

// NewVocabulary returns an empty vocabulary.
func NewVocabulary() *Vocabulary {
	return &Vocabulary{names: map[uint32][]string{}, known: map[string]uint32{}}
}

// ReadVocabulary reads a vocabulary of a model with 2^bits words. It refuses an empty one, and a name with
// two numbers. Errors have the number of the line.
func ReadVocabulary(r io.Reader, ids IDs, bits uint) (*Vocabulary, error) {
	v := NewVocabulary()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxWord)
	n := uint64(0)
	for ; lines.Scan(); n++ {
		word, index := strings.TrimRight(lines.Text(), "\r"), n
		switch ids {
		case ByHash:
			index = uint64(hash(word)) & (1<<bits - 1)
		case ByColumn:
			fields := strings.Fields(word)
			var err error
			if len(fields) < 2 {
				return nil, fmt.Errorf("line %d: got %.40q, want a word and its number", n+1, word)
			}
			if word = fields[0]; word != "" {
				index, err = strconv.ParseUint(fields[1], 10, 32)
			}
			if err != nil {
				return nil, fmt.Errorf("line %d: got %.40q, want the word's number in the second column", n+1, fields[1])
			}
		}
		if index >= 1<<bits {
			return nil, fmt.Errorf("line %d: word %d, but the model has 2^%d words: is it the vocabulary of other data?", n+1, index, bits)
		}
		if first, known := v.known[word]; known && uint64(first) != index {
			return nil, fmt.Errorf("line %d: got %.40q for word %d, but it is the name of word %d: want one number for each name", n+1, word, index, first)
		}
		v.Add(uint32(index), []byte(word))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	if n == 0 {
		return nil, errors.New("the vocabulary is empty: want a line for each word")
	}
	return v, nil
}

// hash returns vw's hash of a name.
func hash(name string) uint32 {
	seed := uint32(0)
	if space, rest, ok := strings.Cut(name, "^"); ok {
		seed, name = feature.HashStrings([]byte(space), 0), rest
	}
	return feature.HashStrings([]byte(name), seed)
}

// Add adds a name of a word, unless the name is known. It copies the name.
func (v *Vocabulary) Add(index uint32, name []byte) {
	if _, known := v.known[string(name)]; !known {
		text := string(name)
		v.known[text] = index
		v.names[index] = append(v.names[index], text)
	}
}

// Words returns the numbers of all words in ascending order. It is not nil, which means all words to [New].
func (v *Vocabulary) Words() []uint32 {
	words := slices.AppendSeq(make([]uint32, 0, len(v.names)), maps.Keys(v.names))
	slices.Sort(words)
	return words
}

// Name returns the name of a word: all its names, joined by '|', or its number if it has none.
// v may be nil.
func (v *Vocabulary) Name(index uint32) string {
	if v == nil || len(v.names[index]) == 0 {
		return strconv.FormatUint(uint64(index), 10)
	}
	return strings.Join(v.names[index], "|")
}

// Shared returns the number of names that share their word with another name. v may be nil.
func (v *Vocabulary) Shared() int {
	n := 0
	if v != nil {
		for _, names := range v.names {
			if len(names) > 1 {
				n += len(names)
			}
		}
	}
	return n
}

// AppendText appends the vocabulary with numbers, as ByColumn reads it.
func (v *Vocabulary) AppendText(dst []byte) []byte {
	for _, index := range v.Words() {
		for _, name := range v.names[index] {
			dst = fmt.Appendf(dst, "%s\t%d\n", name, index)
		}
	}
	return dst
}
