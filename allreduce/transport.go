// SPDX-License-Identifier: Apache-2.0

package allreduce

import "fmt"

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

func (t Transport) String() string {
	if int(t) >= len(transportNames) {
		return fmt.Sprintf("transport %d", uint8(t))
	}
	return transportNames[t]
}

// TransportNames returns the names that ParseTransport accepts.
func TransportNames() []string { return transportNames[:] }

// ParseTransport returns the transport with a name. It is the inverse of String.
func ParseTransport(name string) (Transport, error) {
	for t, n := range transportNames {
		if n == name {
			return Transport(t), nil
		}
	}
	return 0, fmt.Errorf("allreduce: transport %q is none of %v", name, transportNames)
}
