// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"encoding/json"
	"fmt"
)

// Room is the memory of a cluster's nodes in MB.
type Room struct {
	Free []int // free now, by node
	All  []int // free when nothing else runs, by node
	Step int   // unit of the sizes of containers; 0: 1
}

// Fit returns how many maps run at once beside their ApplicationMaster: now, and on an idle
// cluster. MapReduce has no gang scheduling: it starts the maps that fit.
func (r Room) Fit(mapMB, masterMB int) (now, idle int) {
	step := max(r.Step, 1)
	round := func(mb int) int { return (max(mb, 1) + step - 1) / step * step }
	return fit(r.Free, round(mapMB), round(masterMB)), fit(r.All, round(mapMB), round(masterMB))
}

// fit places the ApplicationMaster where it displaces the fewest maps.
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

// Nodes returns the room of a cluster from the response of its ResourceManager to
// /ws/v1/cluster/nodes. Only running nodes count.
func Nodes(answer []byte) (Room, error) {
	var a struct {
		Nodes *struct {
			Node nodes `json:"node"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return Room{}, fmt.Errorf("hadoop: not a list of nodes: %w", err)
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

// node is a node as the ResourceManager reports it.
type node struct {
	State string `json:"state"`
	Free  int    `json:"availMemoryMB"`
	Used  int    `json:"usedMemoryMB"`
}

// nodes is a list that some versions encode as a single element.
type nodes []node

func (n *nodes) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		*n = make(nodes, 1)
		return json.Unmarshal(text, &(*n)[0])
	}
	return json.Unmarshal(text, (*[]node)(n))
}
