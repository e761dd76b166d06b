// Package spans records how a server spends the time of its requests, as traces of OpenTelemetry, and sends them to a collector with the protocol
// OTLP over HTTP.
//
//	options, err := spans.FromEnvironment(os.Getenv)
//	if err != nil {
//		log.Print(err) // variables that the package ignores
//	}
//	if options.Endpoint != "" {
//		tracer, err := spans.New(options)
//		if err != nil {
//			return err
//		}
//		defer tracer.Close(ctx)
//		handler = tracer.Handler(handler)
//	}
//
// Tracer.Handler begins a span for each request. A handler gets the span with Of, names the span, and sets its attributes. Start begins a child span;
// Add adds a child that has ended. Spans without a name are not sent.
//
// Recording never waits for the collector. At most 2,048 ended spans wait in memory; further spans are dropped and counted. If the collector refuses
// a batch of spans temporarily or does not answer, the package tries again a few times and then drops the batch.
//
// The package supports the header traceparent of requests (W3C's Trace Context), the samplers that OTEL_TRACES_SAMPLER names, and the encoding
// http/protobuf. It has neither logs nor metrics.
package spans
