// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"sort"
	"unicode/utf8"

	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/wire"
)

// Member is a rank that takes part in an epoch.
type Member struct {
	Rank         int
	Capabilities uint64
	Port         uint16
	Host         string
	Seen         string // source address of its connection; "": Host
}

// The encoding of a member is its rank, its capabilities and its port, and each text after its length.
const (
	hostLengthAt = 14
	hostAt       = 18
	leastMember  = 22 // bytes of a member without texts
)

func (m *Member) code(c *wire.Coder) {
	c.Rank("rank", &m.Rank)
	c.U64("capabilities", &m.Capabilities)
	c.U16("port", &m.Port)
	c.Text("host", MaxHost, &m.Host)
	c.Text("seen", MaxSeen, &m.Seen)
}

// sizeOf returns the number of bytes of the valid member at the beginning of b; 0: there is none. It accepts what Member.code
// accepts, and sets no field: each rank of a large job checks the members of all.
func sizeOf(b []byte) int {
	if len(b) < leastMember || binary.LittleEndian.Uint32(b) > math.MaxInt32 {
		return 0
	}
	seenLengthAt := hostAt + int(binary.LittleEndian.Uint32(b[hostLengthAt:]))
	if seenLengthAt > hostAt+MaxHost || seenLengthAt+4 > len(b) {
		return 0
	}
	seenAt := seenLengthAt + 4
	end := seenAt + int(binary.LittleEndian.Uint32(b[seenLengthAt:]))
	if end > seenAt+MaxSeen || end > len(b) || !utf8.Valid(b[hostAt:seenLengthAt]) || !utf8.Valid(b[seenAt:end]) {
		return 0
	}
	return end
}

// MemberList is a list of members by rank, in ascending order. It holds their encoding, and a member is decoded when it is
// used: each rank of a large job gets the list of all, and needs the addresses of a few. The zero value is an empty list.
type MemberList struct {
	members []byte   // the encodings, one after the other
	ends    []uint32 // by index, where a member ends in members
	err     error    // of Append; such a list cannot be encoded
}

// Append appends a member, whose rank is higher than those in l. A list with another member, or with one that exceeds a
// limit, cannot be encoded.
func (l *MemberList) Append(m Member) {
	c := wire.Encode(l.members)
	if m.code(&c); m.Rank < 0 || len(l.ends) > 0 && m.Rank <= l.rank(len(l.ends)-1) {
		c.Fail("rank", errDescending)
	}
	l.err = errors.Join(l.err, c.Err())
	l.members = c.Bytes()
	l.ends = append(l.ends, uint32(len(l.members)))
}

var errDescending = errors.New("it is not higher than the one before")

// Len returns the number of members.
func (l *MemberList) Len() int { return len(l.ends) }

// At returns the i-th member.
func (l *MemberList) At(i int) (m Member) {
	c := wire.Decode(l.encoded(i))
	m.code(&c)
	return m
}

// Of returns a rank as a member, and reports whether it is one.
func (l *MemberList) Of(rank int) (m Member, ok bool) {
	i := sort.Search(len(l.ends), func(i int) bool { return l.rank(i) >= rank })
	if i == len(l.ends) || l.rank(i) != rank {
		return Member{}, false
	}
	return l.At(i), true
}

// All yields the members in ascending order.
func (l *MemberList) All() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		c := wire.Decode(l.members)
		for range l.ends {
			var m Member
			if m.code(&c); !yield(m) {
				return
			}
		}
	}
}

// Hosts yields the members in ascending order and their hosts.
func (l *MemberList) Hosts() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var host string // of the last member, which is often that of the next one
		for i := range l.ends {
			b := l.encoded(i)
			if h := b[hostAt:][:binary.LittleEndian.Uint32(b[hostLengthAt:])]; string(h) != host {
				host = string(h)
			}
			if !yield(l.rank(i), host) {
				return
			}
		}
	}
}

// Ranks returns the ranks below total, in ascending order.
func (l *MemberList) Ranks(total int) []int {
	n := sort.Search(len(l.ends), func(i int) bool { return l.rank(i) >= total })
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = l.rank(i)
	}
	return ranks
}

// rank returns the rank of the i-th member, which is its first field.
func (l *MemberList) rank(i int) int { return int(binary.LittleEndian.Uint32(l.encoded(i))) }

// encoded returns the encoding of the i-th member.
func (l *MemberList) encoded(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = l.ends[i-1]
	}
	return l.members[from:l.ends[i]]
}

// code codes the list. A decoder checks each member, and keeps its bytes.
func (l *MemberList) code(c *wire.Coder, name string) {
	if !c.Decoding() && l.err != nil {
		c.Fail(name, l.err)
		return
	}
	last, at := -1, uint32(0)
	var encoded []byte // decoding: what follows the count
	wire.List(c, name, topo.MaxSize, leastMember, &l.ends, func(c *wire.Coder, end *uint32) {
		if c.Encoding() {
			c.Raw("member", l.members[at:*end])
			at = *end
			return
		}
		b := c.Bytes()
		if encoded == nil {
			encoded = b
		}
		if n := sizeOf(b); n > 0 && c.Decoding() {
			c.Advance(n)
		} else { // describing, or an error
			new(Member).code(c)
		}
		if *end = uint32(len(encoded) - len(c.Bytes())); c.Decoding() {
			if rank := int(int32(binary.LittleEndian.Uint32(b))); rank <= last {
				c.Fail("rank", errDescending)
			} else {
				last = rank
			}
		}
	})
	if c.Decoding() && encoded != nil {
		l.members = c.Keep(encoded[:len(encoded)-len(c.Bytes())])
	}
}
