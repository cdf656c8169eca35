// SPDX-License-Identifier: Apache-2.0

package splines

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// split splits a line of vw's text into what precedes the features, and calls f for each feature.
func split(line []byte, f func(namespace, name []byte, value float32) error) (head []byte, err error) {
	head, rest, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte("|"))
	for more := len(rest) > 0; more; {
		var part []byte
		part, rest, more = bytes.Cut(rest, []byte("|"))
		var namespace []byte
		if len(part) > 0 && part[0] != ' ' && part[0] != '\t' {
			end := bytes.IndexAny(part, " \t")
			if end < 0 {
				end = len(part)
			}
			namespace, part = part[:end], part[end:]
			if bytes.IndexByte(namespace, ':') >= 0 {
				return nil, fmt.Errorf("namespace %s has a value: multiply the values of its features by it", namespace)
			}
		}
		for token := range bytes.FieldsSeq(part) {
			name, text, given := bytes.Cut(token, []byte(":"))
			value := 1.0
			if given {
				if value, err = strconv.ParseFloat(string(text), 32); err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
					return nil, fmt.Errorf("feature %q: want name:value with a finite number", token)
				}
			}
			if err := f(namespace, name, float32(value)); err != nil {
				return nil, err
			}
		}
	}
	return head, nil
}

// key identifies a feature.
func key(dst, namespace, name []byte) []byte {
	return append(append(append(dst, namespace...), 0), name...)
}
