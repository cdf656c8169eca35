// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// fuzzPayload checks that a decoder accepts any bytes without a panic, and that a
// decoded frame is encoded to the same bytes again.
func fuzzPayload(f *testing.F, t frameType) {
	for _, s := range samples() {
		if TypeOf(s) == t {
			b, err := AppendFrame(nil, s)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(bare(t, b[FrameHeader:]))
		}
	}
	f.Add([]byte{})
	f.Fuzz(func(tt *testing.T, payload []byte) {
		if t.Checked() { // a fuzzer would not find payloads with a correct checksum
			payload = binary.LittleEndian.AppendUint32(payload[:len(payload):len(payload)], Checksum(t, ProtocolVersion, payload))
		}
		if len(payload) > FrameKinds[t].Limit {
			return
		}
		got, err := decodePayload(t, ProtocolVersion, payload, false)
		if err != nil {
			return
		}
		again, err := AppendFrame(nil, got)
		if err != nil {
			tt.Fatalf("a frame that was decoded cannot be encoded: %v", err)
		}
		if !bytes.Equal(again[FrameHeader:], payload) {
			// Durations over 292 years are clipped, so the bytes may differ; the values must be equal.
			second, err := decodePayload(t, ProtocolVersion, again[FrameHeader:], true)
			if d := cmp.Diff(got, second, cmpopts.EquateNaNs(), cmp.AllowUnexported(MemberList{})); err != nil || d != "" {
				tt.Fatalf("%v, -first +second:\n%s", err, d)
			}
		}
	})
}

// bare returns a payload without its checksum, if it has one.
func bare(t frameType, payload []byte) []byte {
	if t.Checked() {
		return payload[:len(payload)-ChecksumSize]
	}
	return payload
}

func FuzzJoin(f *testing.F)         { fuzzPayload(f, TypeJoin) }
func FuzzReady(f *testing.F)        { fuzzPayload(f, TypeReady) }
func FuzzHeartbeat(f *testing.F)    { fuzzPayload(f, typeHeartbeat) }
func FuzzReport(f *testing.F)       { fuzzPayload(f, typeReport) }
func FuzzAsk(f *testing.F)          { fuzzPayload(f, typeAsk) }
func FuzzPosition(f *testing.F)     { fuzzPayload(f, TypePosition) }
func FuzzComplete(f *testing.F)     { fuzzPayload(f, TypeComplete) }
func FuzzDelivered(f *testing.F)    { fuzzPayload(f, typeDelivered) }
func FuzzLeave(f *testing.F)        { fuzzPayload(f, typeLeave) }
func FuzzFail(f *testing.F)         { fuzzPayload(f, typeFail) }
func FuzzStatus(f *testing.F)       { fuzzPayload(f, TypeStatus) }
func FuzzWelcome(f *testing.F)      { fuzzPayload(f, typeWelcome) }
func FuzzJoined(f *testing.F)       { fuzzPayload(f, typeJoined) }
func FuzzRefused(f *testing.F)      { fuzzPayload(f, typeRefused) }
func FuzzWaiting(f *testing.F)      { fuzzPayload(f, typeWaiting) }
func FuzzHeartbeatAck(f *testing.F) { fuzzPayload(f, typeHeartbeatAck) }
func FuzzEpochStart(f *testing.F)   { fuzzPayload(f, typeEpochStart) }
func FuzzWire(f *testing.F)         { fuzzPayload(f, typeWire) }
func FuzzEpochEnd(f *testing.F)     { fuzzPayload(f, typeEpochEnd) }
func FuzzAskAck(f *testing.F)       { fuzzPayload(f, typeAskAck) }
func FuzzFenced(f *testing.F)       { fuzzPayload(f, typeFenced) }
func FuzzStandBy(f *testing.F)      { fuzzPayload(f, typeStandBy) }
func FuzzDeliver(f *testing.F)      { fuzzPayload(f, typeDeliver) }
func FuzzFinished(f *testing.F)     { fuzzPayload(f, typeFinished) }
func FuzzJobs(f *testing.F)         { fuzzPayload(f, typeJobs) }
func FuzzCancel(f *testing.F)       { fuzzPayload(f, typeCancel) }
func FuzzPull(f *testing.F)         { fuzzPayload(f, typePull) }
func FuzzProof(f *testing.F)        { fuzzPayload(f, typeProof) }
func FuzzAuthOK(f *testing.F)       { fuzzPayload(f, typeAuthOK) }
func FuzzAssign(f *testing.F)       { fuzzPayload(f, typeAssign) }
func FuzzMembers(f *testing.F)      { fuzzPayload(f, typeMembers) }
func FuzzEvents(f *testing.F)       { fuzzPayload(f, typeEvents) }
func FuzzCollect(f *testing.F)      { fuzzPayload(f, typeCollect) }
func FuzzVerdict(f *testing.F)      { fuzzPayload(f, typeVerdict) }
func FuzzLog(f *testing.F)          { fuzzPayload(f, typeLog) }
func FuzzLogRequest(f *testing.F)   { fuzzPayload(f, typeLogRequest) }
func FuzzLogs(f *testing.F)         { fuzzPayload(f, typeLogs) }

// FuzzFrames reads streams of arbitrary bytes, as the server does.
func FuzzFrames(f *testing.F) {
	var all []byte
	for _, s := range samples() {
		b, err := AppendFrame(nil, s)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, b...)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := FrameReader{R: bytes.NewReader(b), Limit: 64 << 10}
		for {
			if _, err := r.Next(); err != nil {
				return
			}
		}
	})
}
