// SPDX-License-Identifier: Apache-2.0

package events

import "fmt"

// Fault is what the server has seen of a fault, as opposed to what ranks report. Its numbers are part of the protocol:
// EPOCH_END has them. Texts about a fault are for people, and nothing is derived from them.
type Fault uint8

const (
	FaultUnknown     Fault = 0
	FaultEnded       Fault = 1  // the connection of a rank has ended: its process has ended
	FaultSilent      Fault = 2  // no frame of a rank has come for too long
	FaultUnanswered  Fault = 3  // a rank sends heartbeats, but does not answer EPOCH_END
	FaultNetwork     Fault = 4  // the network has broken the connection of a rank
	FaultProtocol    Fault = 5  // a rank has sent invalid frames
	FaultLeft        Fault = 6  // a rank has left, and has reported it
	FaultDropped     Fault = 7  // the server has taken the rank from the attempt
	FaultNotReplaced Fault = 8  // a lost rank has not been replaced in time
	FaultCorrupt     Fault = 9  // bytes were changed on an edge
	FaultModels      Fault = 10 // the ranks hold different models
	FaultJournal     Fault = 11 // the server cannot write its journal
)

var faultNames = [...]string{
	FaultUnknown: "", FaultEnded: "ended", FaultSilent: "silent", FaultUnanswered: "unanswered", FaultNetwork: "network", FaultProtocol: "protocol", FaultLeft: "left",
	FaultDropped: "dropped", FaultNotReplaced: "not replaced", FaultCorrupt: "bytes changed", FaultModels: "models differ", FaultJournal: "journal",
}

// String returns the name of a fault; "": it is unknown.
func (f Fault) String() string {
	if int(f) >= len(faultNames) {
		return fmt.Sprintf("fault %d", uint8(f)) // of a newer server
	}
	return faultNames[f]
}

// MarshalText implements [encoding.TextMarshaler].
func (f Fault) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (f *Fault) UnmarshalText(text []byte) error {
	for i, name := range faultNames {
		if name == string(text) {
			*f = Fault(i)
			return nil
		}
	}
	return fmt.Errorf("events: no fault is named %q", text)
}
