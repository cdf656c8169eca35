// SPDX-License-Identifier: Apache-2.0

package token

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// file writes tokens as Hadoop does.
func file(tokens ...Token) []byte {
	b := append([]byte("HDTS\x00"), appendVint(nil, len(tokens))...)
	text := func(s []byte) { b = append(appendVint(b, len(s)), s...) }
	for _, t := range tokens {
		text([]byte(t.Service))
		text(t.Identifier)
		text(t.Password)
		text([]byte(t.Kind))
		text([]byte(t.Service))
	}
	return append(b, 0) // no secrets
}

var (
	long   = Token{Identifier: []byte(strings.Repeat("i", 300)), Password: []byte(strings.Repeat("p", 128)), Kind: "HDFS_DELEGATION_TOKEN", Service: "10.0.0.1:8020"}
	second = Token{Identifier: []byte("x"), Password: []byte("y"), Kind: "HDFS_DELEGATION_TOKEN", Service: "ha-hdfs:big"}
	job    = Token{Identifier: []byte("j"), Password: []byte{}, Kind: "mapreduce.job", Service: "job_1"}
)

func TestParse(t *testing.T) {
	got, err := Parse(file(long, job, second))
	if diff := cmp.Diff([]Token{long, job, second}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	whole := file(long)
	for n := range len(whole) - 1 {
		if _, err := Parse(whole[:n]); err == nil {
			t.Fatalf("the first %d bytes of %d: no error", n, len(whole))
		}
	}
	for _, wrong := range []string{"HDTS\x01abc", "nothing", "HDTS\x00\x88\xff\xff\xff\xff\xff\xff\xff\xff", "HDTS\x00\x8c\x7f\xff\xff\xff"} {
		if _, err := Parse([]byte(wrong)); err == nil {
			t.Errorf("%q: no error", wrong)
		}
	}
}

func TestFor(t *testing.T) {
	for _, c := range []struct {
		tokens   []Token
		services []string
		want     string
	}{
		{[]Token{job, long, second}, []string{"nn:1", "10.0.0.1:8020"}, "10.0.0.1:8020"},
		{[]Token{job, long, second}, []string{"big"}, "ha-hdfs:big"},
		{[]Token{job, second}, []string{"whatever"}, "ha-hdfs:big"},
	} {
		if got, err := For(c.tokens, c.services...); err != nil || got.Service != c.want {
			t.Errorf("for %v: %q, %v, want %q", c.services, got.Service, err, c.want)
		}
	}
	if _, err := For([]Token{job}, "x"); err == nil || !strings.Contains(err.Error(), "fetchdt") {
		t.Errorf("no token of HDFS: %v", err)
	}
	if _, err := For([]Token{long, second}, "x:1"); err == nil || !strings.Contains(err.Error(), "ha-hdfs:big") {
		t.Errorf("tokens of others: %v", err)
	}
}

// Encode is Hadoop's encodeToUrlString: the fields, each behind its length.
func TestEncode(t *testing.T) {
	if got, want := second.Encode(), "AXgBeRVIREZTX0RFTEVHQVRJT05fVE9LRU4LaGEtaGRmczpiaWc"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A token from a name node of Hadoop 3.4.2 (WebHDFS, GETDELEGATIONTOKEN) for the user eve:
// encoding and decoding does not change it.
func TestARealToken(t *testing.T) {
	const given = "GgADZXZlA2V2ZQCKAaIAflhvigGiJIrcbwECFF8o_Y_Ae52Q2-6A6IIus-Z5Q3slEldFQkhERlMgZGVsZWdhdGlvbg8xMjcuMC4wLjE6MTg0MjA"
	fields, err := base64.RawURLEncoding.DecodeString(given)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := Parse(append(append([]byte("HDTS\x00\x01\x05alias"), fields...), 0))
	if err != nil {
		t.Fatal(err)
	}
	token, err := For(tokens, "127.0.0.1:18420")
	if err != nil || token.Kind != "WEBHDFS delegation" || token.Service != "127.0.0.1:18420" {
		t.Errorf("%q for %q, %v", token.Kind, token.Service, err)
	}
	if got := token.Encode(); got != given {
		t.Errorf("%s, want %s", got, given)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file(long, job))
	f.Add([]byte("HDTS\x00\x05"))
	f.Fuzz(func(t *testing.T, b []byte) {
		tokens, err := Parse(b)
		if err != nil {
			return
		}
		again, err := Parse(file(tokens...))
		if err != nil || len(again) != len(tokens) {
			t.Fatalf("%d tokens became %d, %v", len(tokens), len(again), err)
		}
	})
}
