// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"encoding/json"
	"fmt"
)

// Room is what a cluster has for a job: the memory of each node, in MB.
type Room struct {
	Free []int // now
	All  []int // when nothing else runs
	Step int   // containers are multiples of it; 0: 1
}

// Fit returns how many maps run at once beside their ApplicationMaster: now, and when
// nothing else does. MapReduce has no notion of a gang: it starts what fits.
func (r Room) Fit(mapMB, masterMB int) (now, idle int) {
	step := max(r.Step, 1)
	round := func(mb int) int { return (max(mb, 1) + step - 1) / step * step }
	return fit(r.Free, round(mapMB), round(masterMB)), fit(r.All, round(mapMB), round(masterMB))
}

// fit places the master where it takes away the fewest maps.
func fit(nodes []int, mapMB, masterMB int) int {
	all, best := 0, 0
	for _, mb := range nodes {
		all += mb / mapMB
	}
	for _, mb := range nodes {
		if mb >= masterMB {
			best = max(best, all-mb/mapMB+(mb-masterMB)/mapMB)
		}
	}
	return best
}

// Nodes returns the room of a cluster, by the answer of its ResourceManager to
// /ws/v1/cluster/nodes. Only nodes that run count.
func Nodes(answer []byte) (Room, error) {
	var a struct {
		Nodes *struct {
			Node nodes `json:"node"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return Room{}, fmt.Errorf("hadoop: no list of nodes: %w", err)
	}
	var r Room
	if a.Nodes == nil {
		return r, nil
	}
	for _, n := range a.Nodes.Node {
		if n.State == "RUNNING" {
			r.Free = append(r.Free, n.Free)
			r.All = append(r.All, n.Free+n.Used)
		}
	}
	return r, nil
}

type node struct {
	State string `json:"state"`
	Free  int    `json:"availMemoryMB"`
	Used  int    `json:"usedMemoryMB"`
}

// nodes is a list, which some versions write as its only element.
type nodes []node

func (n *nodes) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		*n = make(nodes, 1)
		return json.Unmarshal(text, &(*n)[0])
	}
	return json.Unmarshal(text, (*[]node)(n))
}
