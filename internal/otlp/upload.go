// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// An upload that the collector cannot take at present is repeated.
const (
	tries      = 3
	firstPause = 200 * time.Millisecond
	maxAnswer  = 4 << 10 // bytes of an answer that are read
)

// upload is a client of a collector, for the exporter of the SDK.
type upload struct {
	url  string
	http *http.Client
}

func (u *upload) Start(context.Context) error { return nil }

func (u *upload) Stop(context.Context) error {
	u.http.CloseIdleConnections()
	return nil
}

// UploadTraces sends spans. The bytes of TracesData are those of the request: both have the spans as field 1.
func (u *upload) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	pause := firstPause
	for n := 1; ; n++ {
		again, err := u.post(ctx, body)
		if err == nil || !again || n == tries {
			return err
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return err
		}
	}
}

// post makes one attempt. It reports whether another one may succeed.
func (u *upload) post(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := u.http.Do(r)
	if err != nil {
		return true, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // so that the connection can be used again
	_ = answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("%s answers %s", u.url, answer.Status)
}
