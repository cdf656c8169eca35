// SPDX-License-Identifier: Apache-2.0

package record

// Version is the version of the format.
const Version = 1

// Head begins every event.
type Head struct {
	Event string  `json:"event"`
	Time  float64 `json:"time"` // seconds since 1970, by the clock of the machine that has written it
	Rank  int     `json:"rank"` // -1: the launcher
}

func (h *Head) head() *Head { return h }

// Run is the first event of a run: what it is asked to do.
type Run struct {
	Head                        // event: run
	Version int                 `json:"version"`
	ID      string              `json:"run"`     // equal for all processes of a run
	Program string              `json:"program"` // version of gvw
	Go      string              `json:"go"`      // version of Go
	Ranks   int                 `json:"ranks"`
	Options map[string][]string `json:"options"` // as given, by long name
	Data    []File              `json:"data,omitempty"`
}

// File is an input.
type File struct {
	Name     string  `json:"name"`
	Bytes    int64   `json:"bytes"`              // as stored
	Modified float64 `json:"modified,omitempty"` // seconds since 1970; 0: unknown
}

// Machine is the first event of a process.
type Machine struct {
	Head           // event: rank
	Attempt uint64 `json:"attempt"` // from 1; 0: no launcher counts them
	Host    string `json:"host"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	CPU     string `json:"cpu,omitempty"`    // its name; empty: unknown
	CPUs    int    `json:"cpus"`             // that the process may use at once
	Memory  uint64 `json:"memory,omitempty"` // of the machine, in bytes; 0: unknown
	PID     int    `json:"pid"`
}

// Pass is a pass over the data. It has the fields of a line of --log_json, and a line without a head is one.
type Pass struct {
	Head              // event: pass
	Pass     int      `json:"pass"`
	Method   string   `json:"method"`
	Examples uint64   `json:"examples"`
	Weight   *float64 `json:"weight"` // null: not finite
	Loss     *float64 `json:"loss"`
	Holdout  *float64 `json:"holdout_loss,omitempty"`

	Metrics map[string]*float64 `json:"metrics,omitempty"`
	Valid   map[string]*float64 `json:"valid,omitempty"`
	Best    bool                `json:"best,omitempty"`
	Stop    bool                `json:"stop,omitempty"`
	Seconds float64             `json:"seconds"` // since the run began
}

// Step has what one rank has done in some steps that follow each other.
type Step struct {
	Head                    // event: step
	First    int            `json:"first"` // number of the first step, from 1
	Last     int            `json:"last"`
	Began    float64        `json:"began"` // seconds since 1970; Time is the end
	Seconds  Times          `json:"seconds"`
	Sent     map[int]uint64 `json:"sent,omitempty"`     // bytes of vectors, by the rank of the receiver
	Received map[int]uint64 `json:"received,omitempty"` // by that of the sender
	Via      map[int]string `json:"via,omitempty"`      // carrier of the newest of these bytes, by that rank: tcp, shared_memory, verbs
}

// Vectors has what one rank has exchanged by shared vectors since it has joined their job.
type Vectors struct {
	Head                // event: vectors
	Began       float64 `json:"began"`       // seconds since 1970, when the rank has joined; another attempt has another time
	Rounds      uint64  `json:"rounds"`      // updates sent to each receiver
	Sent        uint64  `json:"sent"`        // updates, one for each receiver
	Dropped     uint64  `json:"dropped"`     // updates that left a full send queue
	Received    uint64  `json:"received"`    // updates
	Overwritten uint64  `json:"overwritten"` // of those, updates that newer ones replaced before they were merged
	Damaged     uint64  `json:"damaged"`     // of those, updates with a wrong checksum
	Merged      uint64  `json:"merged"`      // updates
	Behind      uint64  `json:"behind"`      // rounds by which merged updates were late, in sum
	Oldest      uint64  `json:"oldest"`      // most rounds by which one was
	Edges       []Edge  `json:"edges,omitempty"`
}

// Edge has the bytes between a rank and another one.
type Edge struct {
	Peer     int    `json:"peer"`
	Via      string `json:"via"`             // carrier: tcp, shared_memory, verbs
	Local    bool   `json:"local,omitempty"` // both ranks are on one machine
	Sent     uint64 `json:"sent"`
	Received uint64 `json:"received"`
}

// Times divide the time of a rank, in seconds.
type Times struct {
	Read    float64 `json:"read"`    // waits for examples
	Compute float64 `json:"compute"` // learns from them
	Update  float64 `json:"update"`  // makes results and the next model, outside collectives
	Network float64 `json:"network"` // sends or receives in a collective
	Wait    float64 `json:"wait"`    // is in a collective, and neither sends nor receives
}

// PartNames are the names of the parts, in the order of Parts.
var PartNames = []string{"read", "compute", "update", "network", "wait"}

// Parts returns the times.
func (t *Times) Parts() []float64 {
	return []float64{t.Read, t.Compute, t.Update, t.Network, t.Wait}
}

// Sum returns the sum of all times.
func (t *Times) Sum() float64 { return t.Read + t.Compute + t.Update + t.Network + t.Wait }

// Add adds u to t.
func (t *Times) Add(u *Times) {
	t.Read, t.Compute, t.Update = t.Read+u.Read, t.Compute+u.Compute, t.Update+u.Update
	t.Network, t.Wait = t.Network+u.Network, t.Wait+u.Wait
}

// Data identifies the examples that a rank has read.
type Data struct {
	Head            // event: data
	Examples uint64 `json:"examples"`
	Bytes    uint64 `json:"bytes"`  // of the text
	CRC      string `json:"crc32c"` // of the text, in hexadecimal
}

// Message is something that has happened: a loss, a recovery, a warning.
type Message struct {
	Head          // event: log
	Level  string `json:"level"`
	Text   string `json:"text"`
	Fields string `json:"fields,omitempty"` // KEY=VALUE, separated by blanks
}

// End is the last event of a process, unless it is killed.
type End struct {
	Head           // event: end
	Error   string `json:"error,omitempty"` // empty: success
	Model   string `json:"model,omitempty"` // SHA-256 of the model's bytes, in hexadecimal; empty: unknown
	Passes  int    `json:"passes,omitempty"`
	Dropped int    `json:"dropped,omitempty"` // lines left out because of the limits
}

// event is a line of the file.
type event interface{ head() *Head }

// kindOf returns the name of an event.
func kindOf(e event) string {
	switch e.(type) {
	case *Run:
		return "run"
	case *Machine:
		return "rank"
	case *Pass:
		return "pass"
	case *Step:
		return "step"
	case *Vectors:
		return "vectors"
	case *Data:
		return "data"
	case *Message:
		return "log"
	case *End:
		return "end"
	}
	panic("BUG: record: an event without a name")
}
