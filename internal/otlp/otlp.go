// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/gvw-project/gvw/internal/timeline"
)

// endTimeout limits the upload of the last spans.
const endTimeout = 5 * time.Second

// Config describes a rank.
type Config struct {
	// URL is the address of the collector, http or https. Without a path it is that of the host's /v1/traces. Required.
	URL string
	// Job is the key of the job, the same for all ranks. Required.
	Job string
	// Rank is the number of this rank, and Ranks their number; 0: one process without a job.
	Rank, Ranks int
	// Attempt is the number of this process among those of its rank, from 1; 0: unknown, taken for 1. All attempts of a rank
	// have different ones.
	Attempt uint64
	// Host is the name of this machine; "": unknown.
	Host string
	// Version is the version of the program; "": unknown.
	Version string
}

// Validate reports what is wrong with c.
func (c Config) Validate() error {
	_, err := c.endpoint()
	return err
}

// endpoint returns the address to which spans are sent.
func (c Config) endpoint() (string, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("URL: got %q, want that of a collector of OTLP over HTTP, such as http://localhost:4318", c.URL)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/traces"
	}
	return u.String(), nil
}

// Tracer makes the spans of a rank.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	exporter *exporter

	mu       sync.Mutex
	ctx      context.Context // of the attempt, the parent of the following spans
	job      trace.Span      // nil: another rank has it
	attempt  trace.Span
	step     trace.Span // under way; nil: none
	inStep   context.Context
	stepEnd  time.Time // of the step before
	steps    int
	passEnd  time.Time
	hasEnded bool
}

// Start starts the trace of a rank. It does not wait for the collector.
func Start(c Config) (*Tracer, error) {
	to, err := c.endpoint()
	if err != nil {
		return nil, err
	}
	// Without a start of the exporter nothing is sent before the first batch.
	e := &exporter{SpanExporter: otlptrace.NewUnstarted(&upload{to, &http.Client{Timeout: endTimeout}})}
	attrs := []attribute.KeyValue{
		attribute.String("service.name", "gvw"), attribute.String("service.version", c.Version), attribute.String("host.name", c.Host),
	}
	key := sha256.Sum256([]byte("gvw job " + c.Job))
	root := trace.SpanContextConfig{TraceID: trace.TraceID(key[:16]), SpanID: trace.SpanID(key[16:24]), TraceFlags: trace.FlagsSampled, Remote: true}
	ids := &generator{root.TraceID, root.SpanID}
	t := &Tracer{exporter: e}
	t.provider = sdktrace.NewTracerProvider(sdktrace.WithBatcher(e), sdktrace.WithIDGenerator(ids), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithResource(resource.NewSchemaless(attrs...)))
	t.tracer = t.provider.Tracer("github.com/gvw-project/gvw")
	now := time.Now()
	t.stepEnd, t.passEnd = now, now
	ctx := context.Background()
	if c.Rank > 0 || c.Attempt > 1 {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(root))
	}
	if c.Rank == 0 {
		ctx, t.job = t.tracer.Start(ctx, "job", trace.WithTimestamp(now), trace.WithAttributes(attribute.String("gvw.job", c.Job), attribute.Int("gvw.ranks", max(1, c.Ranks))))
	}
	t.ctx, t.attempt = t.tracer.Start(ctx, fmt.Sprintf("rank %d", c.Rank), trace.WithTimestamp(now),
		trace.WithAttributes(attribute.Int("gvw.rank", c.Rank), attribute.Int64("gvw.attempt", int64(c.Attempt))))
	return t, nil
}

// Span adds a span of a timeline.Meter, which calls it at the end of the span.
func (t *Tracer) Span(row timeline.Row, name string, began, ended time.Time, size int) {
	if t == nil || row > timeline.Collectives {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hasEnded {
		return
	}
	if t.step == nil {
		t.steps++
		start := began
		if t.steps > 1 && t.stepEnd.Before(began) {
			start = t.stepEnd
		}
		t.inStep, t.step = t.tracer.Start(t.ctx, fmt.Sprintf("step %d", t.steps), trace.WithTimestamp(start))
	}
	_, span := t.tracer.Start(t.inStep, name, trace.WithTimestamp(began))
	if size > 0 {
		span.SetAttributes(attribute.Int("gvw.bytes", size))
	}
	span.End(trace.WithTimestamp(ended))
	if row == timeline.Steps && name == timeline.Commit {
		t.step.End(trace.WithTimestamp(ended))
		t.step, t.stepEnd = nil, ended
	}
}

// Write adds the span of a pass, from its line of --log_json.
func (t *Tracer) Write(line []byte) (int, error) {
	if t == nil {
		return len(line), nil
	}
	var p struct {
		Pass     int      `json:"pass"`
		Method   string   `json:"method"`
		Examples int64    `json:"examples"`
		Loss     *float64 `json:"loss"`
		Holdout  *float64 `json:"holdout_loss"`
	}
	if err := json.Unmarshal(line, &p); err != nil {
		return 0, fmt.Errorf("cannot trace a pass: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	_, span := t.tracer.Start(t.ctx, fmt.Sprintf("pass %d", p.Pass), trace.WithTimestamp(t.passEnd),
		trace.WithAttributes(attribute.String("gvw.method", p.Method), attribute.Int64("gvw.examples", p.Examples)))
	if p.Loss != nil {
		span.SetAttributes(attribute.Float64("gvw.loss", *p.Loss))
	}
	if p.Holdout != nil {
		span.SetAttributes(attribute.Float64("gvw.holdout_loss", *p.Holdout))
	}
	span.End(trace.WithTimestamp(now))
	t.passEnd = now
	return len(line), nil
}

// End ends the spans, with the error of the run or nil, and sends those that wait. Its error is the first one that lost spans.
func (t *Tracer) End(ctx context.Context, runErr error) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	if !t.hasEnded {
		t.hasEnded = true
		for _, span := range []trace.Span{t.step, t.attempt, t.job} {
			if span == nil {
				continue
			}
			if runErr != nil {
				span.RecordError(runErr)
				span.SetStatus(codes.Error, runErr.Error())
			}
			span.End()
		}
	}
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout) // a run that was interrupted has a trace, too
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		return err
	}
	return t.exporter.first()
}

// generator makes the identities of spans. The trace has a fixed one, and so has the span without a parent.
type generator struct {
	job  trace.TraceID
	root trace.SpanID
}

func (g *generator) NewIDs(context.Context) (trace.TraceID, trace.SpanID) { return g.job, g.root }

func (g *generator) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	_, _ = rand.Read(id[:]) // it never fails
	return id
}

// exporter keeps the first error, which the SDK would print.
type exporter struct {
	sdktrace.SpanExporter
	mu  sync.Mutex
	err error
}

func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.err == nil {
			e.err = err
		}
	}
	return nil
}

func (e *exporter) first() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}
