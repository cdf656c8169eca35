// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package remote

import (
	"context"
	"errors"
	"io"
	"os"
)

var errSystem = errors.New("this system cannot keep workers of a launcher on another machine: Linux and macOS can")

// OverSignal is nil: there are no tethers.
var OverSignal os.Signal

func notifyOver(chan<- os.Signal) {}

// Front returns an error: there are no locks and sessions.
func Front(context.Context, io.Reader, io.Writer, string, string, []string) error { return errSystem }

// Keep returns an error: there are no locks and sessions.
func Keep(context.Context, io.Reader, string, string, []string, io.Writer) error { return errSystem }
