// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/wire"
)

// anyMembers draws members in ascending order of their ranks.
func anyMembers(t *rapid.T) (members []Member) {
	rank := -1
	for range rapid.IntRange(0, 9).Draw(t, "members") {
		rank += rapid.IntRange(1, 300).Draw(t, "step")
		members = append(members, Member{
			Rank: rank, Capabilities: rapid.Uint64().Draw(t, "capabilities"), Port: rapid.Uint16().Draw(t, "port"),
			Host: rapid.StringN(0, 9, MaxHost).Draw(t, "host"), Seen: rapid.StringN(0, 9, MaxSeen).Draw(t, "seen"),
		})
	}
	return members
}

func listOf(members ...Member) (l MemberList) {
	for _, m := range members {
		l.Append(m)
	}
	return l
}

// TestMemberListHoldsItsMembers checks a list, and the same list after it was sent, against a slice.
func TestMemberListHoldsItsMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyMembers(t)
		built := listOf(want...)
		b, err := AppendFrame(nil, &EpochStartFrame{Members: built})
		if err != nil {
			t.Fatal(err)
		}
		r := &FrameReader{R: bytes.NewReader(b), Limit: MaxPayload}
		f, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		clear(r.buf) // as another frame that the reader reads there
		total := rapid.IntRange(0, 3000).Draw(t, "total")
		for name, l := range map[string]*MemberList{"built": &built, "received": &f.(*EpochStartFrame).Members} {
			if d := cmp.Diff(want, slices.Collect(l.All())); d != "" || l.Len() != len(want) {
				t.Fatalf("%s: %d members, -want +got:\n%s", name, l.Len(), d)
			}
			var ranks []int
			for i, m := range want {
				if got, ok := l.Of(m.Rank); !ok || got != m || l.At(i) != m {
					t.Errorf("%s: rank %d is %+v and %+v, %v, want %+v", name, m.Rank, got, l.At(i), ok, m)
				}
				if m.Rank < total {
					ranks = append(ranks, m.Rank)
				}
			}
			i := 0
			for rank, host := range l.Hosts() {
				if rank != want[i].Rank || host != want[i].Host {
					t.Errorf("%s: host %q of rank %d, want %q of %d", name, host, rank, want[i].Host, want[i].Rank)
				}
				i++
			}
			if i != len(want) {
				t.Errorf("%s: %d hosts of %d members", name, i, len(want))
			}
			if got := l.Ranks(total); !slices.Equal(got, ranks) {
				t.Errorf("%s: the ranks below %d are %v, want %v", name, total, got, ranks)
			}
			other := rapid.IntRange(0, 3000).Draw(t, "other")
			if _, ok := l.Of(other); ok != slices.ContainsFunc(want, func(m Member) bool { return m.Rank == other }) {
				t.Errorf("%s: rank %d is a member: %v", name, other, ok)
			}
		}
	})
}

// TestMemberListRefusesDisorder checks that neither end accepts ranks that do not ascend, nor a member over its limits.
func TestMemberListRefusesDisorder(t *testing.T) {
	for _, c := range []struct {
		name string
		list []Member
		want string
	}{
		{"descending", []Member{{Rank: 2}, {Rank: 1}}, "field rank: it is not higher than the one before"},
		{"twice", []Member{{Rank: 2}, {Rank: 2}}, "field rank: it is not higher than the one before"},
		{"no rank", []Member{{Rank: -1}}, "field rank: it is not higher than the one before"},
		{"a long host", []Member{{Rank: 1, Host: strings.Repeat("h", MaxHost+1)}}, fmt.Sprintf("field host: %d bytes, the limit is %d", MaxHost+1, MaxHost)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := AppendFrame(nil, &EpochStartFrame{Members: listOf(c.list...)}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it is encoded: %v, want %q", err, c.want)
			}
			e := wire.Encode([]byte{byte(len(c.list)), 0, 0, 0})
			for _, m := range c.list {
				e.Rank("rank", &m.Rank)
				e.U64("capabilities", &m.Capabilities)
				e.U16("port", &m.Port)
				e.Blob("host", MaxHost+1, &m.Host)
				e.Blob("seen", MaxSeen, &m.Seen)
			}
			var l MemberList
			d := wire.Decode(e.Bytes())
			if l.code(&d, "members"); d.Err() == nil || !strings.Contains(d.Err().Error(), c.want) {
				t.Errorf("it is decoded: %v, want %q", d.Err(), c.want)
			}
		})
	}
}

// TestSizeOfAcceptsWhatTheCoderAccepts checks the fast check of a member against the coder, on encodings with changed and
// missing bytes.
func TestSizeOfAcceptsWhatTheCoderAccepts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Member{Rank: rapid.IntRange(-1, math.MaxInt32).Draw(t, "rank"), Host: rapid.StringN(-1, -1, MaxHost).Draw(t, "host"), Seen: rapid.StringN(-1, -1, MaxSeen).Draw(t, "seen")}
		e := wire.Encode(nil)
		m.code(&e)
		b := append(e.Bytes(), rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "next member")...)
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff}).Draw(t, "byte")
		}
		b = b[:rapid.IntRange(0, len(b)).Draw(t, "length")]
		d := wire.Decode(b)
		var got Member
		got.code(&d)
		want := len(b) - len(d.Bytes())
		if d.Err() != nil || got.Rank < 0 { // no rank is no member
			want = 0
		}
		if n := sizeOf(b); n != want {
			t.Errorf("% x: sizeOf is %d, want %d (%+v, %v)", b, n, want, got, d.Err())
		}
	})
}

// TestMemberListTakesFewAllocations: each rank of a large job decodes the list of all.
func TestMemberListTakesFewAllocations(t *testing.T) {
	f := &EpochStartFrame{}
	for rank := range 1000 {
		f.Members.Append(Member{Rank: rank, Host: "10.1.2.3", Port: uint16(30_000 + rank)})
	}
	b, err := AppendFrame(nil, f)
	if err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(b)
	n := testing.AllocsPerRun(10, func() {
		r.Reset(b)
		if _, err = (&FrameReader{R: r, Limit: MaxPayload}).Next(); err != nil {
			t.Fatal(err)
		}
	})
	if n > 8 {
		t.Errorf("%v allocations for 1,000 members, want those of the buffer and of an index", n)
	}
}

func BenchmarkMemberListDecode(b *testing.B) {
	f := &EpochStartFrame{}
	for rank := range 4000 {
		f.Members.Append(Member{Rank: rank, Host: "10.1.2.3", Port: uint16(30_000 + rank)})
	}
	e := wire.Encode(nil)
	f.Members.code(&e, "members")
	b.ReportAllocs()
	for b.Loop() {
		var l MemberList
		c := wire.DecodeKept(e.Bytes())
		if l.code(&c, "members"); c.End() != nil {
			b.Fatal(c.Err())
		}
	}
}
