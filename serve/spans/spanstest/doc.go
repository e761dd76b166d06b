// Package spanstest provides a collector of spans for tests. The collector decodes what package
// spans sends.
//
//	c := spanstest.New(t)
//	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
//	// ... requests to a server, which then ends
//	for _, s := range c.Spans() {
//		fmt.Println(s.Name, s.Attributes)
//	}
package spanstest
