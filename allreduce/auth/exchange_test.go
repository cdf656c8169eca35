// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"bytes"
	"encoding/hex"
	"testing"

	"pgregory.net/rapid"
)

func secretOf(t testing.TB, text string) *Secret {
	t.Helper()
	s, err := NewSecret([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	goodSecret  = "sixteen bytes and more"
	otherSecret = "another sixteen bytes or more"
)

// The expected values were computed with Python's standard hmac module, from the rules in
// secret.go and exchange.go.
var (
	wantControl = unhex("cdb4edfb9f19e2faa7777c2815a363c6f77634c0f3b9ee0258b34974f44ef8d3")
	wantEpoch   = unhex("71aed0f3f4633da2226cc043d77ce871b9398eaeb9e8032d14cf18fbe0e6c609")
)

// The protocol fixes these values: a change here needs a new protocol version.
func TestProofsAreThoseOfTheProtocol(t *testing.T) {
	s := secretOf(t, goodSecret)
	x := s.Control().Exchange([]byte("hello"), []byte("welcome"))
	p := x.Proof(Client)
	e := s.Epoch(Scope{UniqueID: 7, RunKey: "k", Term: 1, N: 2, Incarnation: 3, Token: [16]byte{4}})
	for name, c := range map[string]struct{ got, want []byte }{
		"control": {p[:], wantControl},
		"epoch":   {e[:], wantEpoch},
	} {
		if !bytes.Equal(c.got, c.want) {
			t.Errorf("%s: got %x, want %x", name, c.got, c.want)
		}
	}
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return b
}

func TestProofsAreForOneSideOfOneConversation(t *testing.T) {
	key := secretOf(t, goodSecret).Control()
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 1, 4).Draw(t, "said")
		heard := rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 1, 4).Draw(t, "heard")
		x, y := key.Exchange(said...), key.Exchange(heard...)
		same := len(said) == len(heard)
		for i := 0; same && i < len(said); i++ {
			same = bytes.Equal(said[i], heard[i])
		}
		p := x.Proof(Client)
		if !x.Accepts(Client, p[:]) || x.Accepts(Server, p[:]) {
			t.Fatal("a proof is valid for the other side")
		}
		if y.Accepts(Client, p[:]) != same {
			t.Fatalf("the proof of %q is accepted for %q: %v, want %v", said, heard, !same, same)
		}
		if x.Accepts(Client, p[:ProofSize-1]) || x.Accepts(Client, nil) {
			t.Fatal("a part of a proof is accepted")
		}
	})
}

// Moving bytes from one part to the next changes the proof.
func TestPartsCannotBeShifted(t *testing.T) {
	key := secretOf(t, goodSecret).Control()
	a, b := key.Exchange([]byte("ab"), []byte("c")), key.Exchange([]byte("a"), []byte("bc"))
	if p := a.Proof(Client); b.Accepts(Client, p[:]) {
		t.Error("two conversations have the same proof")
	}
}

func TestKeysOfEpochsDiffer(t *testing.T) {
	s, o := secretOf(t, goodSecret), secretOf(t, otherSecret)
	base := Scope{UniqueID: 7, RunKey: "k", Term: 1, N: 2, Incarnation: 3, Token: [16]byte{4}}
	seen := map[Key]string{s.Control(): "control", o.Control(): "the other's control"}
	note := func(name string, k Key) {
		t.Helper()
		if old, twice := seen[k]; twice {
			t.Errorf("%s and %s have the same key", old, name)
		}
		seen[k] = name
	}
	note("base", s.Epoch(base))
	note("another secret", o.Epoch(base))
	note("no secret", (*Secret)(nil).Epoch(base))
	for name, change := range map[string]func(*Scope){
		"unique id":   func(e *Scope) { e.UniqueID++ },
		"run key":     func(e *Scope) { e.RunKey = "" },
		"term":        func(e *Scope) { e.Term++ },
		"n":           func(e *Scope) { e.N++ },
		"incarnation": func(e *Scope) { e.Incarnation++ },
		"token":       func(e *Scope) { e.Token[15] = 1 },
	} {
		e := base
		change(&e)
		note(name, s.Epoch(e))
	}
}

// FuzzAccepts checks that only the proof itself is accepted.
func FuzzAccepts(f *testing.F) {
	x := secretOf(f, goodSecret).Control().Exchange([]byte("a"), []byte("b"))
	p, q := x.Proof(Client), x.Proof(Server)
	f.Add(p[:])
	f.Add(q[:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, proof []byte) {
		if x.Accepts(Client, proof) != bytes.Equal(proof, p[:]) {
			t.Fatalf("% x is accepted or rejected wrongly", proof)
		}
	})
}
