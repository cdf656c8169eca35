// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// example is a message in the form of a line of vw text.
type example struct {
	label         int // 1: spam, -1: ham
	tag           string
	subject, body []string // distinct words
	key           string   // the letters of the body; of the subject if it has none
	hash          uint64   // of the key
}

func newExample(label int, tag string, m message) example {
	key := letters(m.body)
	if key == "" {
		key = letters(m.subject)
	}
	sum := sha256.Sum256([]byte(key))
	return example{
		label: label, tag: tag, subject: words(m.subject), body: words(m.body),
		key: key, hash: binary.BigEndian.Uint64(sum[:]),
	}
}

// letters returns only the letters of s, in lower case. Bodies that differ only in line breaks,
// numbers or punctuation are equal.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

const (
	minWord = 2
	maxWord = 20 // letters; longer ones are encoded junk
)

// words returns the distinct words of s in the order of their appearance, in
// lower case: runs of letters, apostrophes between letters left out; "!" and "$"
// are words too. So none holds a character that vw's text gives a meaning.
func words(s string) []string {
	var all []string
	seen := map[string]bool{}
	add := func(w string) {
		if !seen[w] {
			seen[w] = true
			all = append(all, w)
		}
	}
	var word []rune
	flush := func() {
		if len(word) >= minWord && len(word) <= maxWord {
			add(string(word))
		}
		word = word[:0]
	}
	for i, r := range s {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r) && len(word) > 0:
			word = append(word, unicode.ToLower(r))
		case r == '\'' && len(word) > 0 && letterAt(s, i+1):
		case r == '!' || r == '$':
			flush()
			add(string(r))
		default:
			flush()
		}
	}
	flush()
	return all
}

func letterAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsLetter(r)
}

// appendLine appends the example as a line of vw text.
func (ex *example) appendLine(dst []byte) []byte {
	dst = strconv.AppendInt(dst, int64(ex.label), 10)
	dst = append(dst, " '"...)
	dst = append(dst, ex.tag...)
	dst = appendNamespace(dst, 's', ex.subject)
	dst = append(dst, ' ')
	dst = appendNamespace(dst, 'b', ex.body)
	return append(dst, '\n')
}

// appendNamespace appends |name:1/sqrt(n) and the n words.
func appendNamespace(dst []byte, name byte, words []string) []byte {
	dst = append(dst, '|', name)
	if len(words) > 1 {
		dst = append(dst, ':')
		dst = strconv.AppendFloat(dst, 1/math.Sqrt(float64(len(words))), 'g', 3, 64)
	}
	for _, w := range words {
		dst = append(dst, ' ')
		dst = append(dst, w...)
	}
	return dst
}
