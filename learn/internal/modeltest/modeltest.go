// SPDX-License-Identifier: Apache-2.0

// Package modeltest has the tests that packages svm, factor and nn have in common: of the encoding of a model and of
// the faults of a configuration.
package modeltest

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"
)

// Model is a model of these packages.
type Model interface {
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// Faults verifies that an error names fields of Config.
func Faults(t testing.TB, err error, fields ...string) {
	t.Helper()
	for _, field := range fields {
		if err == nil || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("got %v, want a fault of %s", err, field)
		}
	}
}

// RoundTrip encodes m behind other bytes, decodes it into read, and verifies that read has the same encoding.
func RoundTrip(t testing.TB, m, read Model) {
	t.Helper()
	data, err := m.AppendBinary([]byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	own, ok := bytes.CutPrefix(data, []byte("before"))
	if !ok {
		t.Fatal("AppendBinary has changed the bytes before the model")
	}
	if err := read.UnmarshalBinary(own); err != nil {
		t.Fatal(err)
	}
	if again, err := read.AppendBinary(nil); err != nil || !bytes.Equal(again, own) {
		t.Errorf("encoded again: %d bytes, error %v, want the same %d bytes", len(again), err, len(own))
	}
}

// Fuzz decodes bytes with a right checksum, and encodes each model among them again. m is one such model. use may use a
// decoded model; nil: it is not used.
func Fuzz[M any, P interface {
	*M
	Model
}](f *testing.F, m P, use func(P),
) {
	data, err := m.AppendBinary(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[:len(data)-4])
	f.Add(data[:len(data)-8])
	f.Fuzz(func(t *testing.T, body []byte) {
		data := binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
		var m M
		if err := P(&m).UnmarshalBinary(data); err != nil {
			return
		}
		if use != nil {
			use(&m)
		}
		if _, err := P(&m).AppendBinary(nil); err != nil {
			t.Fatal(err)
		}
	})
}
