// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/members"
)

// SendRecv is one rank's part in a SendRecv. All ranks gather the parts of all ranks before the data
// moves, and compare them: an unmatched send would wait without end.
type SendRecv struct {
	To, From        int64 // ranks; schedule.None: none
	Out, In         int64 // elements
	OutKind, InKind int64
}

// SendRecvWords is the number of words of an encoded SendRecv.
const SendRecvWords = 6

// Put encodes p into the first SendRecvWords words of b.
func (p *SendRecv) Put(b []int64) {
	b[0], b[1], b[2], b[3], b[4], b[5] = p.To, p.From, p.Out, p.In, p.OutKind, p.InKind
}

// DecodeSendRecv decodes the first SendRecvWords words of b. It is the inverse of Put.
func DecodeSendRecv(b []int64) SendRecv {
	return SendRecv{To: b[0], From: b[1], Out: b[2], In: b[3], OutKind: b[4], InKind: b[5]}
}

// String describes the part for messages.
func (p SendRecv) String() string {
	say := func(word string, rank, n, kind int64) string {
		if rank == schedule.None {
			return word + " no rank"
		}
		return fmt.Sprintf("%s rank %d: %d %v", word, rank, n, kernels.Kind(kind))
	}
	return say("to", p.To, p.Out, p.OutKind) + "; " + say("from", p.From, p.In, p.InKind)
}

// SendRecvMismatch returns the failure that the parts of ranks a and b do not match.
func (en *Engine) SendRecvMismatch(a, b int, words []int64, live members.Set) *Failure {
	f := &Failure{Code: faultMismatch, By: a, Rank: b, Host: en.hostOf(b)}
	en.Mu.Lock()
	defer en.Mu.Unlock()
	for i, rank := range [...]int{a, b} {
		id := en.Call.ID
		id.Verb = VerbSendRecv
		if at := live.Position(rank); at >= 0 {
			id.Name = DecodeSendRecv(words[SendRecvWords*at:]).String()
		}
		f.calls[i] = id
	}
	return f
}
