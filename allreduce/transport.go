// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"encoding"
	"fmt"
)

// Transport carries bytes from one machine to another. All ranks of a job have the same.
//
//   - [TransportTCP] is TCP. It is the default.
//   - [TransportVerbs] is RDMA verbs. A rank that cannot use them ends the job.
//   - [TransportAuto] is verbs if all ranks can use them, and TCP otherwise. The log names
//     the choice.
type Transport uint8

// The transports, values of Config.Transport.
const (
	TransportTCP Transport = iota
	TransportVerbs
	TransportAuto
)

var transportNames = [...]string{TransportTCP: "tcp", TransportVerbs: "verbs", TransportAuto: "auto"}

var (
	_ encoding.TextMarshaler   = Transport(0)
	_ encoding.TextUnmarshaler = (*Transport)(nil)
)

// String returns the name of the transport.
func (t Transport) String() string {
	if int(t) >= len(transportNames) {
		return fmt.Sprintf("transport %d", uint8(t))
	}
	return transportNames[t]
}

// MarshalText returns the name of the transport: tcp, verbs or auto.
func (t Transport) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText sets the transport with a name.
func (t *Transport) UnmarshalText(name []byte) error {
	for i, n := range transportNames {
		if n == string(name) {
			*t = Transport(i)
			return nil
		}
	}
	return fmt.Errorf("allreduce: transport %q is none of %v", name, transportNames)
}
