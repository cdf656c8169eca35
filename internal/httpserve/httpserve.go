// SPDX-License-Identifier: Apache-2.0

// Package httpserve runs an HTTP server until a context ends.
//
//	err := httpserve.Until(ctx, httpserve.Bound(listener, 16384), &http.Server{Handler: h, …}, 5*time.Second)
package httpserve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Loopback reports whether only processes of this machine can connect to a server that listens on host, a name
// or an IP address without brackets.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Until serves until ctx ends, and then lets the requests under way end within drain. It uses TLS if
// server.TLSConfig is set. It closes l.
func Until(ctx context.Context, l net.Listener, server *http.Server, drain time.Duration) error {
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		err := server.Shutdown(within)
		if errors.Is(err, context.DeadlineExceeded) { // a client that streams
			err = server.Close()
		}
		ended <- err
	})
	var err error
	if server.TLSConfig != nil {
		err = server.ServeTLS(l, "", "")
	} else {
		err = server.Serve(l)
	}
	if stop() {
		return err
	}
	return <-ended
}
