// SPDX-License-Identifier: Apache-2.0

// Package otlp sends what a rank does as OpenTelemetry traces, over OTLP/HTTP.
//
//	t, err := otlp.Start(otlp.Config{URL: "http://localhost:4318", Job: "7/run", Rank: 0})
//	meter.Span = t.Span             // collectives and steps, from a timeline.Meter
//	log := io.MultiWriter(log, t)   // passes, from the lines of --log_json
//	…
//	err = t.End(ctx, runErr)
//
// # Spans
//
// All ranks of a job have the same trace, whose identity is a digest of the job's key:
//
//	job                      of the first attempt of rank 0, from its start to its end
//	├ job                    of a later attempt of rank 0, with its spans
//	└ rank 2                 an attempt of a rank
//	  ├ pass 1               of the rank that logs passes, with its method and loss
//	  └ step 1               with its collectives, such as "all-reduce weights"
//
// An error is the status of the job, the attempt and the step in which it occurred.
//
// # Contract
//
// Spans wait in a bounded queue, and are dropped when it is full: a collector that is slow or missing does not delay the
// run. End sends the spans that wait, for at most five seconds, and returns the first error. All methods are safe for concurrent
// use, and do nothing for a nil Tracer.
//
// The OpenTelemetry SDK makes and queues the spans. The upload is this package's own: the SDK's HTTP client links gRPC,
// which would add five megabytes to the program.
package otlp
