// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"

	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/malt"
	"github.com/gvw-project/gvw/malt/pipe"
)

// Two programs give each other their models, here as goroutines. `gvw malt` connects the pipes of a process.
func ExampleRun() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), l) }()
	defer func() { s.Close(); <-served }()

	cfg := pipe.Config{Vector: malt.VectorConfig{ObjectConfig: malt.ObjectConfig{Sync: "bsp"}}}
	outs := make([]bytes.Buffer, 2)
	var ranks sync.WaitGroup
	for rank, model := range []string{"0 1 2\n", "2 3 4\n"} {
		ranks.Go(func() {
			g, err := malt.Join(context.Background(), malt.Config{
				Server: l.Addr().String(), Job: malt.Job{UniqueID: 1}, Rank: rank, Total: 2, Listen: "127.0.0.1:0",
			})
			if err != nil {
				fmt.Println(err)
				return
			}
			defer g.Close()
			if err := pipe.Run(context.Background(), g, cfg, strings.NewReader(model), &outs[rank]); err != nil {
				fmt.Println(err)
			}
		})
	}
	ranks.Wait()
	fmt.Print(outs[0].String(), outs[1].String())
	// Output:
	// 1 2 3
	// 1 2 3
}

// A merger must be one of pipe.Mergers.
func ExampleConfig_Validate() {
	fmt.Println(pipe.Config{Merge: "median"}.Validate())
	// Output:
	// pipe: Merge: got "median", want one of [average weighted sum replace]
}
