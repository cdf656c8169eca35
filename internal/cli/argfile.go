// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
)

// maxArgFiles bounds the depth of argument files that name each other.
const maxArgFiles = 10

// ExpandFiles replaces every word @file by the words in that file, which may name other files.
// Words after "--" are not expanded, since another command reads them. readFile returns the
// contents of a file.
func ExpandFiles(args []string, readFile func(string) ([]byte, error)) ([]string, error) {
	return appendExpanded(nil, args, readFile, 0)
}

// appendExpanded appends the words of args to dst. depth is the number of files around args.
func appendExpanded(dst, args []string, readFile func(string) ([]byte, error), depth int) ([]string, error) {
	for i, word := range args {
		if word == "--" {
			return append(dst, args[i:]...), nil
		}
		if len(word) < 2 || word[0] != '@' {
			dst = append(dst, word)
			continue
		}
		name := word[1:]
		if depth == maxArgFiles {
			return nil, Usagef("%s: argument files name each other over %d levels: is there a circle?", name, maxArgFiles)
		}
		b, err := readFile(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read the argument file %s: %w", name, err)
		}
		words, err := SplitWords(string(b), true)
		if err != nil {
			return nil, Usagef("argument file %s: %w", name, err)
		}
		if dst, err = appendExpanded(dst, words, readFile, depth+1); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// SplitWords splits text at white space. Quotes, ' or ", keep their contents together. With
// comments, a word that begins with # starts a comment up to the end of the line.
func SplitWords(s string, comments bool) ([]string, error) {
	var words []string
	var word strings.Builder
	started := false
	line := 1
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\'' || c == '"':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return nil, fmt.Errorf("line %d: the quote %c is not closed", line, c)
			}
			quoted := s[i+1 : i+1+end]
			word.WriteString(quoted)
			line += strings.Count(quoted, "\n")
			started = true
			i += end + 1
		case c == '#' && !started && comments:
			for i+1 < len(s) && s[i+1] != '\n' {
				i++
			}
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if started {
				words = append(words, word.String())
				word.Reset()
				started = false
			}
			if c == '\n' {
				line++
			}
		default:
			word.WriteByte(c)
			started = true
		}
	}
	if started {
		words = append(words, word.String())
	}
	return words, nil
}
