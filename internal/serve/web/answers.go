// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/serve/engine"
)

// appendError appends the answer of a line without a prediction.
func appendError(dst []byte, k engine.Kind, err error) []byte {
	text := engine.ErrorText(err)
	if k == engine.JSON {
		b, _ := json.Marshal(map[string]string{"error": text}) // a string has JSON
		return append(append(dst, b...), '\n')
	}
	return append(append(append(dst, "error: "...), text...), '\n')
}

// appendJSON appends the object of an answer, which is a line of -p.
func appendJSON(dst, answer, tag []byte) []byte {
	answer = bytes.TrimSuffix(answer, []byte("\n"))
	if len(tag) > 0 {
		answer = bytes.TrimSuffix(answer, append([]byte(" "), tag...))
	}
	dst = append(dst, `{"prediction":`...)
	if words := strings.Fields(string(answer)); len(words) > 0 && strings.Contains(words[0], ":") {
		for i, w := range words {
			class, score, _ := strings.Cut(w, ":")
			dst = append(dst, "{,"[min(i, 1)])
			dst = appendValue(strconv.AppendQuote(dst, class), ':', score)
		}
		dst = append(dst, '}')
	} else {
		dst = appendValue(dst, 0, string(answer))
	}
	if len(tag) > 0 {
		text, _ := json.Marshal(string(tag)) // a string has JSON
		dst = append(append(dst, `,"tag":`...), text...)
	}
	return append(dst, "}\n"...)
}

// appendValue appends a number, or another text as a string. JSON has no infinity and no NaN.
func appendValue(dst []byte, before byte, text string) []byte {
	if before != 0 {
		dst = append(dst, before)
	}
	if json.Valid([]byte(text)) {
		return append(dst, text...)
	}
	quoted, _ := json.Marshal(text) // a string has JSON
	return append(dst, quoted...)
}
