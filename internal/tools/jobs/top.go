// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/statusline"
)

// The control sequences of gvw top. The other screen of the terminal keeps what was on it.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
)

// resizeEvery is the interval at which the size of the terminal is compared.
const resizeEvery = 200 * time.Millisecond

// answer is the result of a request to the server.
type answer struct {
	st  *protocol.ServerStatus
	err error
}

// Top runs gvw top: a live table of the jobs of a server.
func Top(ctx context.Context, p *cli.Process, c *cli.Command, args []string) (err error) {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	address, creds, err := server(p, s)
	if err != nil {
		return err
	}
	out, ok := p.Stdout.(*os.File)
	if !ok || !files.Terminal(out) || p.Stdin == nil || !files.Terminal(p.Stdin) {
		return cli.Usagef("gvw top needs a terminal: gvw jobs --watch prints the same to a file")
	}
	restore, err := statusline.Keys(p.Stdin)
	if err != nil {
		return err
	}
	p.AtKill(func() { _ = restore() })
	defer func() { err = errors.Join(err, restore(), p.Print(leaveScreen)) }()
	if err := p.Print(enterScreen); err != nil {
		return err
	}
	return followServer(ctx, p, out, &topView{server: address}, func(ctx context.Context) answer {
		st, err := client.Status(ctx, nil, address, creds)
		if err == nil {
			st = withVectors(st)
		}
		return answer{st, err}
	})
}

// followServer draws the view after each key, each answer and each change of the terminal's size,
// until the user or ctx ends it.
func followServer(ctx context.Context, p *cli.Process, out *os.File, v *topView, ask func(context.Context) answer) error {
	ctx, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	keys, answers := make(chan byte), make(chan answer)
	all.Go(func() { readKeys(ctx, p.Stdin, keys) })
	all.Go(func() { askServer(ctx, ask, answers) })
	resize := time.NewTicker(resizeEvery)
	defer resize.Stop()
	columns, rows := statusline.Size(out)
	for {
		if err := p.Print("\x1b[H" + strings.Join(v.lines(columns, rows), "\x1b[K\n") + "\x1b[K\x1b[J"); err != nil {
			return err
		}
		for same := true; same; {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case k := <-keys:
				if v.key(k) {
					return nil
				}
				same = false
			case a := <-answers:
				if _, refused := errors.AsType[*protocol.RefusedError](a.err); refused {
					return a.err
				}
				v.fault, same = "", false
				if a.err != nil { // a server that restarts is back after some seconds: the last answer stays
					v.fault = flags.ErrorLines(a.err)[0]
				} else {
					v.st = a.st
				}
			case <-resize.C:
				c, r := statusline.Size(out)
				same = c == columns && r == rows
				columns, rows = c, r
			}
		}
	}
}

// readKeys sends keys until ctx ends. The arrow keys, which are three bytes, become j and k.
func readKeys(ctx context.Context, in io.Reader, keys chan<- byte) {
	b := make([]byte, 16)
	for ctx.Err() == nil {
		n, err := in.Read(b)
		if err != nil && !errors.Is(err, io.EOF) {
			return // the terminal is gone; a signal ends the process
		}
		for text := string(b[:n]); text != ""; {
			k := text[0]
			switch {
			case strings.HasPrefix(text, "\x1b[A"), strings.HasPrefix(text, "\x1b[B"):
				k = "kj"[text[2]-'A']
				text = text[3:]
			default:
				text = text[1:]
			}
			select {
			case keys <- k:
			case <-ctx.Done():
				return
			}
		}
	}
}

// askServer sends an answer at once and then every two seconds, until ctx ends.
func askServer(ctx context.Context, ask func(context.Context) answer, answers chan<- answer) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case answers <- ask(ctx):
		case <-ctx.Done():
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
