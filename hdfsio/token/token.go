// SPDX-License-Identifier: Apache-2.0

// Package token reads the file in which Hadoop passes delegation tokens to a task
// (HADOOP_TOKEN_FILE_LOCATION), and which hdfs fetchdt writes.
//
//	tokens, err := token.Parse(file)
//	t, err := token.For(tokens, "nn1.example.org:8020")
//	query.Set("delegation", t.Encode())
//
// The file has Java's Writable format, which is big-endian:
//
//	offset  bytes  what
//	0       4      "HDTS"
//	4       1      0; version 1, protocol buffers, is not supported: Hadoop writes it only on request
//	5       vint   number of tokens; each:
//	               text  alias, text being a vint and so many bytes
//	               the token: text identifier, text password, text kind, text service
//	               then secrets, which are of no use here
//
// A vint is one byte from -112 to 127; or -113-k, which means that k+1 bytes of a
// non-negative number follow.
package token

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Limits: a job has a few tokens of some hundred bytes.
const (
	maxTokens = 10_000
	maxField  = 1 << 20
)

// Token is a delegation token: the permission to act for a user on a service.
type Token struct {
	Identifier, Password []byte
	Kind                 string // HDFS_DELEGATION_TOKEN, …
	Service              string // host:port, or ha-hdfs:NAMESERVICE
}

// Parse parses a token file.
func Parse(b []byte) ([]Token, error) {
	if len(b) < 5 || string(b[:4]) != "HDTS" {
		return nil, errors.New("not a token file of Hadoop: it does not begin with HDTS")
	}
	if b[4] != 0 {
		return nil, fmt.Errorf("this token file has format %d: want 0; write it with hdfs fetchdt, or dtutil -format java", b[4])
	}
	d := decoder{b: b[5:]}
	n := d.vint()
	if n < 0 || n > maxTokens {
		return nil, fmt.Errorf("the file claims to have %d tokens: it is damaged", n)
	}
	var tokens []Token
	for range n {
		d.text() // the alias
		t := Token{Identifier: d.text(), Password: d.text(), Kind: string(d.text()), Service: string(d.text())}
		if d.err != nil {
			return nil, d.err
		}
		tokens = append(tokens, t)
	}
	return tokens, d.err
}

// ofHDFS are the kinds of tokens that a name node accepts.
var ofHDFS = []string{"HDFS_DELEGATION_TOKEN", "WEBHDFS delegation", "SWEBHDFS delegation"}

// For returns the token for one of some services. A file with a single HDFS token
// is for the only cluster, under any name.
func For(tokens []Token, services ...string) (Token, error) {
	var of []Token
	var names []string
	for _, t := range tokens {
		for _, kind := range ofHDFS {
			if t.Kind == kind {
				of = append(of, t)
				names = append(names, t.Service)
			}
		}
	}
	for _, t := range of {
		for _, s := range services {
			if t.Service == s || t.Service == "ha-hdfs:"+s {
				return t, nil
			}
		}
	}
	switch len(of) {
	case 0:
		return Token{}, errors.New("the file has no token for HDFS: get one with hdfs fetchdt FILE")
	case 1:
		return of[0], nil
	}
	return Token{}, fmt.Errorf("none of the file's tokens is for %s: they are for %s", strings.Join(services, " or "), strings.Join(names, ", "))
}

// Encode returns the token in the encoding of WebHDFS.
func (t Token) Encode() string {
	var b []byte
	for _, field := range [][]byte{t.Identifier, t.Password, []byte(t.Kind), []byte(t.Service)} {
		b = append(appendVint(b, len(field)), field...)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func appendVint(dst []byte, n int) []byte {
	if n <= 127 {
		return append(dst, byte(n))
	}
	size := 0
	for rest := n; rest > 0; rest >>= 8 {
		size++
	}
	dst = append(dst, byte(-112-size))
	for size > 0 {
		size--
		dst = append(dst, byte(n>>(8*size)))
	}
	return dst
}

// decoder decodes fields until an error.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail() {
	if d.err == nil {
		d.err = errors.New("the token file is truncated or damaged")
	}
	d.b = nil
}

func (d *decoder) vint() int {
	if len(d.b) == 0 {
		d.fail()
		return 0
	}
	first := int8(d.b[0])
	d.b = d.b[1:]
	if first >= -112 {
		return int(first)
	}
	size := -112 - int(first)
	if size > 4 || size > len(d.b) {
		d.fail() // negative, or too large for a length
		return 0
	}
	n := 0
	for _, c := range d.b[:size] {
		n = n<<8 | int(c)
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) text() []byte {
	n := d.vint()
	if n < 0 || n > maxField || n > len(d.b) {
		d.fail()
		return nil
	}
	t := d.b[:n:n]
	d.b = d.b[n:]
	return t
}
