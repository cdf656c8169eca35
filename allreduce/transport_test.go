// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTransportText: the names of transports are read as they are written.
func TestTransportText(t *testing.T) {
	for transport, name := range map[Transport]string{TransportTCP: "tcp", TransportVerbs: "verbs", TransportAuto: "auto"} {
		text, err := json.Marshal(transport)
		if err != nil || string(text) != `"`+name+`"` {
			t.Errorf("%v is written as %s, %v", transport, text, err)
		}
		var got Transport
		if err := json.Unmarshal(text, &got); err != nil || got != transport {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	var got Transport
	if err := got.UnmarshalText([]byte("TCP")); err == nil || !strings.Contains(err.Error(), `"TCP"`) {
		t.Errorf("TCP: got %v", err)
	}
}
