// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The expected values were computed by other programs: the key with Python's hmac, the tags with
// `openssl mac -cipher AES-256-GCM GMAC`. The protocol fixes them.
func TestTagsAreThoseOfTheProtocol(t *testing.T) {
	tags := exchange(t).Tags(Client)
	for i, c := range []struct {
		kind uint32
		text []byte
		want string
	}{
		{0x0201, []byte("first"), "661a5d8eaf3e297d3fd27b0d2f721263"},
		{0x0202, bytes.Repeat([]byte("0123456789"), 1000), "94cc897818760137f938046d7c7caf9f"},
	} {
		if got := tags.Append(nil, c.kind, c.text); !bytes.Equal(got, unhex(c.want)) {
			t.Errorf("message %d: got %x, want %s", i, got, c.want)
		}
	}
}

// message is a message with its tag.
type message struct {
	kind uint32
	text []byte
	tag  []byte
}

// tagged returns the texts with their tags, as one side sends them.
func tagged(t *Tags, texts [][]byte) (all []message) {
	for i, text := range texts {
		all = append(all, message{uint32(i % 3), text, t.Append(nil, uint32(i%3), text)})
	}
	return all
}

// accepted returns the number of messages before the first that is rejected.
func accepted(t *Tags, all []message) int {
	for i, m := range all {
		if !t.Accept(m.tag, m.kind, m.text) {
			return i
		}
	}
	return len(all)
}

// Unchanged messages are accepted. Any change of one of them is detected.
func TestChangedMessagesAreRejected(t *testing.T) {
	x, another := exchange(t), secretOf(t, goodSecret).Control().Exchange([]byte("a"), []byte("c"))
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 300), 2, 6).Draw(t, "texts")
		sent := tagged(x.Tags(Client), texts)
		if n := accepted(x.Tags(Client), sent); n != len(sent) {
			t.Fatalf("message %d is rejected", n)
		}
		at := rapid.IntRange(0, len(sent)-2).Draw(t, "at")
		m := &sent[at]
		m.text, m.tag = bytes.Clone(m.text), bytes.Clone(m.tag)
		bit := byte(1) << rapid.IntRange(0, 7).Draw(t, "bit")
		what := rapid.SampledFrom([]string{"text", "tag", "kind", "shorter", "longer", "twice", "left out", "swapped", "of the other side", "of another conversation"}).Draw(t, "what")
		fails := at
		switch what {
		case "text":
			m.text[rapid.IntRange(0, len(m.text)-1).Draw(t, "byte")] ^= bit
		case "tag":
			m.tag[rapid.IntRange(0, TagSize-1).Draw(t, "byte")] ^= bit
		case "kind":
			m.kind ^= uint32(bit) << (8 * rapid.IntRange(0, 3).Draw(t, "byte"))
		case "shorter":
			m.text = m.text[1:]
		case "longer":
			m.text = append(m.text, 0)
		case "twice":
			sent = slices.Insert(sent, at, *m)
			fails++
		case "left out":
			sent = slices.Delete(sent, at, at+1)
		case "swapped":
			sent[at], sent[at+1] = sent[at+1], sent[at]
		case "of the other side":
			*m = tagged(x.Tags(Server), texts)[at]
		case "of another conversation":
			*m = tagged(another.Tags(Client), texts)[at]
		}
		if n := accepted(x.Tags(Client), sent); n != fails {
			t.Errorf("%s: %d messages are accepted, want %d", what, n, fails)
		}
	})
}

// After Skip the tag of the next message is accepted.
func TestSkippedTag(t *testing.T) {
	x := exchange(t)
	sent := tagged(x.Tags(Server), [][]byte{[]byte("a"), []byte("b")})
	in := x.Tags(Server)
	in.Skip()
	if n := accepted(in, sent[1:]); n != 1 {
		t.Error("the second message is rejected")
	}
}

func TestTagsAllocateNothing(t *testing.T) {
	x := exchange(t)
	out, in := x.Tags(Client), x.Tags(Client)
	text, tag := make([]byte, 1000), make([]byte, 0, TagSize)
	if n := testing.AllocsPerRun(100, func() {
		tag = out.Append(tag[:0], 1, text)
		if !in.Accept(tag, 1, text) {
			t.Fatal("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkTags(b *testing.B) {
	out := exchange(b).Tags(Client)
	text, tag := make([]byte, 256<<10), make([]byte, 0, TagSize)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tag = out.Append(tag[:0], 1, text)
	}
}
