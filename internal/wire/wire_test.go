// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sample has a field of each kind.
type sample struct {
	U8     uint8
	U16    uint16
	U32    uint32
	U64    uint64
	I32    int32
	I64    int64
	F32    float32
	F64    float64
	Flag   bool
	Coarse time.Duration // in milliseconds
	Fine   time.Duration // in nanoseconds
	Rank   int
	Raw    [3]byte
	Text   string
	Blob   string
	List   []pair
	Texts  []string
	Size   uint8
	View   []byte
}

type pair struct{ A, B uint16 }

const sampleLimit = 20 // of texts and lists

func (s *sample) code(c *Coder) {
	s.codeFixed(c)
	c.Text("text", sampleLimit, &s.Text)
	c.Blob("blob", sampleLimit, &s.Blob)
	List(c, "list", sampleLimit, 4, &s.List, func(c *Coder, p *pair) {
		c.U16("a", &p.A)
		c.U16("b", &p.B)
	})
	c.Texts("texts", 3, sampleLimit, &s.Texts)
	c.U8("size", &s.Size)
	c.View("view", int(s.Size), &s.View)
}

// codeFixed codes the fields of a fixed size.
func (s *sample) codeFixed(c *Coder) {
	c.U8("u8", &s.U8)
	c.U16("u16", &s.U16)
	c.U32("u32", &s.U32)
	c.U64("u64", &s.U64)
	c.I32("i32", &s.I32)
	c.I64("i64", &s.I64)
	c.F32("f32", &s.F32)
	c.F64("f64", &s.F64)
	c.Flag("flag", &s.Flag)
	c.Millis("millis", &s.Coarse)
	c.Nanos("nanos", &s.Fine)
	c.Rank("rank", &s.Rank)
	c.Raw("raw", s.Raw[:])
	c.Skip(2)
}

func full() *sample {
	return &sample{
		U8: 1, U16: 0x0203, U32: 0x04050607, U64: 0x08090a0b0c0d0e0f, I32: -2, I64: -3, F32: 1.5, F64: -2.5, Flag: true,
		Coarse: 258 * time.Millisecond, Fine: 259, Rank: -1, Raw: [3]byte{7, 8, 9}, Text: "né", Blob: "\xff", List: []pair{{1, 2}, {3, 4}},
		Texts: []string{"", "ab"}, Size: 2, View: []byte("vw"),
	}
}

// golden are the bytes of full.
const golden = "01" + "0302" + "07060504" + "0f0e0d0c0b0a0908" + "feffffff" + "fdffffffffffffff" + "0000c03f" + "00000000000004c0" + "01" +
	"02010000" + "0301000000000000" + "ffffffff" + "070809" + "0000" + "03000000" + "6ec3a9" + "01000000" + "ff" +
	"02000000" + "0100020003000400" + "02000000" + "00000000" + "02000000" + "6162" + "02" + "7677"

func encoded(t interface {
	Helper()
	Fatal(...any)
}, s *sample,
) []byte {
	t.Helper()
	c := Encode([]byte("head"))
	s.code(&c)
	if err := c.End(); err != nil {
		t.Fatal(err)
	}
	b, found := bytes.CutPrefix(c.Bytes(), []byte("head"))
	if !found {
		t.Fatal("an encoder has changed the bytes before its message")
	}
	return b
}

// The bytes of each kind of field are those that earlier releases wrote.
func TestGoldenBytes(t *testing.T) {
	if got := hex.EncodeToString(encoded(t, full())); got != golden {
		t.Errorf("the bytes of a message, got and want:\n%s\n%s", got, golden)
	}
}

// A decoded message is equal to the encoded one.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(-1, -1, sampleLimit)
		s := &sample{
			U8: rapid.Uint8().Draw(t, "u8"), U16: rapid.Uint16().Draw(t, "u16"), U32: rapid.Uint32().Draw(t, "u32"), U64: rapid.Uint64().Draw(t, "u64"),
			I32: rapid.Int32().Draw(t, "i32"), I64: rapid.Int64().Draw(t, "i64"), F32: rapid.Float32().Draw(t, "f32"), F64: rapid.Float64().Draw(t, "f64"),
			Flag: rapid.Bool().Draw(t, "flag"), Coarse: time.Duration(rapid.Uint32().Draw(t, "ms")) * time.Millisecond,
			Fine: time.Duration(rapid.Int64Min(0).Draw(t, "ns")), Rank: rapid.IntRange(-1, math.MaxInt32).Draw(t, "rank"),
			Text: text.Draw(t, "text"), Blob: string(rapid.SliceOfN(rapid.Byte(), 0, sampleLimit).Draw(t, "blob")),
			View: rapid.SliceOfN(rapid.Byte(), 0, 255).Draw(t, "view"),
		}
		for range rapid.IntRange(0, sampleLimit).Draw(t, "list") {
			s.List = append(s.List, pair{rapid.Uint16().Draw(t, "a"), rapid.Uint16().Draw(t, "b")})
		}
		for range rapid.IntRange(0, 3).Draw(t, "texts") {
			s.Texts = append(s.Texts, text.Draw(t, "one"))
		}
		s.Size = uint8(len(s.View))
		var got sample
		c := Decode(encoded(t, s))
		got.code(&c)
		if err := c.End(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s, &got); d != "" {
			t.Errorf("-encoded +decoded:\n%s", d)
		}
	})
}

// Every prefix of a message ends inside a field, and each further byte is one too many.
func TestPrefixesAndFurtherBytes(t *testing.T) {
	b := encoded(t, full())
	for n := range b {
		var s sample
		c := Decode(b[:n:n])
		if s.code(&c); !errors.Is(c.End(), ErrShort) {
			t.Errorf("%d bytes of %d: %v", n, len(b), c.Err())
		}
	}
	var s sample
	c := Decode(append(b, 0))
	if s.code(&c); c.Err() != nil || c.End() == nil {
		t.Errorf("a further byte: %v, at the end %v", c.Err(), c.End())
	}
}

// Invalid values are errors that name the field, for a decoder and for an encoder.
func TestFaults(t *testing.T) {
	number := func(c *Coder) { c.U32("other", new(uint32)) }
	for name, c := range map[string]struct {
		bytes string // "": encode
		code  func(*Coder)
		want  string
	}{
		"a flag of 2":           {"\x02", func(c *Coder) { c.Flag("f", new(bool)) }, "field f: 2 is neither 0 nor 1"},
		"no rank":               {"\x00\x00\x00\x80", func(c *Coder) { c.Rank("r", new(int)) }, "field r: 2147483648 is no rank"},
		"a long text":           {"\x03\x00\x00\x00abc", func(c *Coder) { c.Text("t", 2, new(string)) }, "field t: 3 bytes, the limit is 2"},
		"no UTF-8":              {"\x01\x00\x00\x00\xff", func(c *Coder) { c.Text("t", 2, new(string)) }, "field t: it is not UTF-8"},
		"a long list":           {"\x03\x00\x00\x00abc", func(c *Coder) { c.Texts("l", 2, 9, new([]string)) }, "field l: 3 elements, the limit is 2"},
		"a list over the end":   {"\x02\x00\x00\x00abc", func(c *Coder) { c.Texts("l", 2, 9, new([]string)) }, "field l: it ends inside a field"},
		"the first error":       {"\x02", func(c *Coder) { c.Flag("f", new(bool)); number(c) }, "field f: 2 is neither 0 nor 1"},
		"an encoded long text":  {"", func(c *Coder) { s := "abc"; c.Text("t", 2, &s); number(c) }, "field t: 3 bytes, the limit is 2"},
		"an encoded short view": {"", func(c *Coder) { b := []byte("a"); c.View("v", 2, &b) }, "field v: 1 bytes, want 2"},
		"a check of the caller": {"", func(c *Coder) { c.Fail("x", errors.New("odd")); c.Fail("y", errors.New("later")) }, "field x: odd"},
	} {
		t.Run(name, func(t *testing.T) {
			coder := Encode(nil)
			if c.bytes != "" {
				coder = Decode([]byte(c.bytes))
			}
			c.code(&coder)
			if err := coder.End(); err == nil || err.Error() != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Durations outside of their range are encoded as the nearest one.
func TestDurationsAreLimited(t *testing.T) {
	for _, d := range []time.Duration{-time.Second, math.MaxInt64} {
		c := Encode(nil)
		c.Millis("ms", &d)
		c.Nanos("ns", &d)
		back := Decode(c.Bytes())
		var ms, ns time.Duration
		back.Millis("ms", &ms)
		back.Nanos("ns", &ns)
		coarse, fine := time.Duration(math.MaxUint32)*time.Millisecond, time.Duration(math.MaxInt64)
		if d < 0 {
			coarse, fine = 0, 0
		}
		if ms != coarse || ns != fine {
			t.Errorf("%v is decoded as %v in milliseconds and %v in nanoseconds", d, ms, ns)
		}
	}
}

// Describe lists all fields, and leaves the message as it is.
func TestDescribe(t *testing.T) {
	c := Describe()
	if !c.Compound("both", "pair", 4) {
		t.Error("a describing coder does not record a compound field")
	}
	s := full()
	s.code(&c)
	if d := cmp.Diff(full(), s); d != "" {
		t.Errorf("the message has changed:\n%s", d)
	}
	var words []string
	for _, f := range c.Fields() {
		words = append(words, f.Name+" "+f.Kind)
	}
	got := strings.Join(words, ", ")
	want := "both pair, u8 u8, u16 u16, u32 u32, u64 u64, i32 i32, i64 i64, f32 f32, f64 f64, flag flag, millis ms, nanos ns, rank rank, " +
		"raw 3 bytes, reserved 0, text text ≤ 20, blob bytes ≤ 20, list list ≤ 20, list[].a u16, list[].b u16, texts list ≤ 3, texts[].text text ≤ 20, size u8, view bytes"
	if got != want {
		t.Errorf("the fields are\n%s\nwant\n%s", got, want)
	}
}

// Fields of a fixed size and views are coded without memory.
func TestFixedFieldsAllocateNothing(t *testing.T) {
	s, dst := full(), make([]byte, 0, 256)
	var b []byte
	if n := testing.AllocsPerRun(100, func() {
		c := Encode(dst)
		s.codeFixed(&c)
		c.View("view", len(s.View), &s.View)
		d := Decode(c.Bytes())
		s.codeFixed(&d)
		d.View("view", len(s.View), &b)
		if d.End() != nil {
			t.Error(d.Err())
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestEqualTextsShareMemory: a list that names the same host again and again is decoded into one string, and other texts are
// their own.
func TestEqualTextsShareMemory(t *testing.T) {
	texts := []string{"a.host", "a.host", "", "a.host", "another", "a.host"}
	enc := Encode(nil)
	enc.Texts("texts", 10, 10, &texts)
	var got []string
	dec := Decode(enc.Bytes())
	dec.Texts("texts", 10, 10, &got)
	if diff := cmp.Diff(texts, got); diff != "" || dec.End() != nil {
		t.Error(dec.Err(), diff)
	}
	many := slices.Repeat([]string{"the same host", ""}, 100)
	enc = Encode(nil)
	enc.Texts("texts", 200, 20, &many)
	if n := testing.AllocsPerRun(10, func() {
		d := Decode(enc.Bytes())
		d.Texts("texts", 200, 20, &got)
	}); n > 3 {
		t.Errorf("%v allocations for 200 texts, want 3: the list, a string and the coder", n)
	}
}

// FuzzDecode checks that a decoder accepts any bytes without a panic, and that a message that it
// decodes is encoded to the same bytes, except for the values of reserved bytes.
func FuzzDecode(f *testing.F) {
	b, err := hex.DecodeString(golden)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:40])
	f.Fuzz(func(t *testing.T, b []byte) {
		var s sample
		c := Decode(b)
		if s.code(&c); c.End() != nil {
			return
		}
		again := encoded(t, &s)
		var u sample
		d := Decode(again)
		if u.code(&d); d.End() != nil || len(again) != len(b) {
			t.Fatalf("%d bytes, encoded again %d: %v", len(b), len(again), d.Err())
		}
	})
}
