// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"strings"
	"unicode/utf8"
)

// message holds the two texts of a mail.
type message struct{ subject, body string }

// maxDepth bounds how deep multiparts nest.
const maxDepth = 5

// parseMessage parses a mail without failing: spam violates every rule, and text that cannot be
// decoded is kept unchanged.
func parseMessage(raw []byte) message {
	head, body := splitHead(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")))
	return message{
		subject: cleanSubject(decodeHeader(head["subject"])),
		body:    cleanBody(bodyText(head, body, 0)),
	}
}

// splitHead splits a mail or a part at its first empty line and returns its fields by
// lower-case name, the first of repeated ones. Lines that are not fields, such as mbox's "From
// ", are skipped.
func splitHead(raw []byte) (head map[string]string, body []byte) {
	head = map[string]string{}
	last := ""
	for len(raw) > 0 {
		var line []byte
		line, raw, _ = bytes.Cut(raw, []byte("\n"))
		if len(line) == 0 {
			break
		}
		if (line[0] == ' ' || line[0] == '\t') && last != "" {
			head[last] += " " + string(bytes.TrimSpace(line))
			continue
		}
		last = ""
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || bytes.ContainsAny(name, " \t") {
			continue
		}
		if key := strings.ToLower(string(name)); head[key] == "" {
			last = key
			head[key] = string(bytes.TrimSpace(value))
		}
	}
	return head, raw
}

// decodeHeader decodes =?charset?q?…?= words.
func decodeHeader(s string) string {
	d := mime.WordDecoder{CharsetReader: func(_ string, r io.Reader) (io.Reader, error) {
		b, err := io.ReadAll(r)
		return strings.NewReader(toUTF8(b)), err
	}}
	if text, err := d.DecodeHeader(s); err == nil {
		s = text
	}
	return toUTF8([]byte(s))
}

// bodyText returns the text of a mail or part: of several, all that are text,
// except that of alternatives only the first is taken.
func bodyText(head map[string]string, body []byte, depth int) string {
	kind, params, err := mime.ParseMediaType(head["content-type"])
	if err != nil && kind == "" {
		kind = "text/plain"
	}
	switch {
	case strings.HasPrefix(kind, "multipart/") && params["boundary"] != "" && depth < maxDepth:
		return partsText(kind, params["boundary"], body, depth)
	case kind == "message/rfc822" && depth < maxDepth:
		inner, rest := splitHead(body)
		return bodyText(inner, rest, depth+1)
	case !strings.HasPrefix(kind, "text/"):
		return "" // an attachment
	}
	text := toUTF8(decodeTransfer(head["content-transfer-encoding"], body))
	if kind == "text/html" || looksLikeHTML(text) {
		text = htmlText(text)
	}
	return text
}

func partsText(kind, boundary string, body []byte, depth int) string {
	var texts []string
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		p, err := r.NextRawPart()
		if err != nil {
			break // the end, or a truncated mail: use the parts so far
		}
		content, _ := io.ReadAll(p)
		head := map[string]string{}
		for key := range p.Header {
			head[strings.ToLower(key)] = p.Header.Get(key)
		}
		text := bodyText(head, content, depth+1)
		if strings.TrimSpace(text) == "" {
			continue
		}
		texts = append(texts, text)
		if kind == "multipart/alternative" {
			break
		}
	}
	if len(texts) == 0 && depth == 0 {
		return toUTF8(body) // no part begins with the declared boundary
	}
	return strings.Join(texts, "\n")
}

// decodeTransfer decodes the transfer encoding up to its first error.
func decodeTransfer(encoding string, body []byte) []byte {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "quoted-printable":
		text, _ := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
		if len(text) > 0 {
			return text
		}
	case "base64":
		if text := decodeBase64(body); len(text) > 0 {
			return text
		}
	}
	return body
}

// decodeBase64 skips characters that are not base64 and ignores a truncated end.
func decodeBase64(body []byte) []byte {
	var digits []byte
	for _, c := range body {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' {
			digits = append(digits, c)
		}
	}
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1]
	}
	text, err := base64.RawStdEncoding.DecodeString(string(digits))
	if err != nil {
		return nil
	}
	return text
}

// toUTF8 interprets text that is not UTF-8 as Latin-1. For Western mail that is right. For
// other mail, whose charset names are unreliable in spam, different letters stay different,
// which is all that a learner needs.
func toUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}
