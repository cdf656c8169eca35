// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The bytes of calls, progress frames and faults are those of earlier releases.
func TestPayloadBytes(t *testing.T) {
	call := CallID{Epoch: protocol.Epoch{Term: 1, N: 2, Incarnation: 3}, Seq: 4, Verb: VerbAllReduce, Kind: 1, Op: 2, Schedule: 3, Part: 1 << 16, Length: 5, Root: -1, Name: "gradient"}
	own := call
	own.Op, own.Own, own.Root = kernels.FirstOwn+3, "softmax", 6
	lost := Failure{Code: FaultLost, By: 1, Rank: -1, idle: 258 * time.Millisecond, Host: "h1", Text: "reset"}
	mismatch := Failure{Code: faultMismatch, entered: true, By: 1, Rank: 2, Host: "h2", calls: [2]CallID{call, own}}
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"call":          {call.appendTo(nil), "01000000020000000300000000000000040000000000000001010203000001000500000000000000ffffffff08000000384dee14b782d3046772616469656e74"},
		"own operation": {own.appendTo([]byte{1})[1:], "010000000200000003000000000000000400000000000000010140030000010005000000000000000600000008070000dd2ef02dac9955a76772616469656e74736f66746d6178"},
		"progress":      {progressFrame{seq: 5, Rank: -1}.appendTo(nil), "0500000000000000ffffffff00000000"},
		"entered":       {progressFrame{seq: 6, Rank: 7, entered: true}.appendTo(nil), "06000000000000000700000001000000"},
		"fault":         {lost.appendTo(nil), "0100000001000000ffffffff02010000020005000000000068317265736574"},
		"mismatch":      {mismatch.appendTo(nil), "030100000100000002000000000000000200000040004700683201000000020000000300000000000000040000000000000001010203000001000500000000000000ffffffff08000000384dee14b782d3046772616469656e74010000000200000003000000000000000400000000000000010140030000010005000000000000000600000008070000dd2ef02dac9955a76772616469656e74736f66746d6178"},
	} {
		if got := hex.EncodeToString(c.bytes); got != c.want {
			t.Errorf("%s: got and want\n%s\n%s", name, got, c.want)
		}
	}
}

// A call and a progress frame are encoded without memory.
func TestEncodingAllocatesNothing(t *testing.T) {
	call := CallID{Epoch: protocol.Epoch{Term: 1}, Seq: 4, Verb: VerbAllReduce, Length: 5, Name: "gradient"}
	dst := make([]byte, 0, callMax)
	if allocs := testing.AllocsPerRun(100, func() {
		call.appendTo(dst)
		if _, err := decodeProgress(progressFrame{seq: 5}.appendTo(dst)); err != nil {
			t.Error(err)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
