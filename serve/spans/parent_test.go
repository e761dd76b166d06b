package spans

import (
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestParent(t *testing.T) {
	const id = "0af7651916cd43dd8448eb211c80319c"
	for _, c := range []struct {
		text        string
		ok, sampled bool
	}{
		{"00-" + id + "-b7ad6b7169203331-01", true, true},
		{"00-" + id + "-b7ad6b7169203331-00", true, false},
		{"00-" + id + "-b7ad6b7169203331-03", true, true},
		{"cc-" + id + "-b7ad6b7169203331-01-what", true, true},
		{"cc-" + id + "-b7ad6b7169203331-01", true, true},
		{"cc-" + id + "-b7ad6b7169203331-01x", false, false},
		{"00-" + id + "-b7ad6b7169203331-01-what", false, false},
		{"ff-" + id + "-b7ad6b7169203331-01", false, false},
		{"00-" + strings.ToUpper(id) + "-b7ad6b7169203331-01", false, false},
		{"00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01", false, false},
		{"00-" + id + "-0000000000000000-01", false, false},
		{"00-" + id + "-b7ad6b716920333-01", false, false},
		{"00-" + id + "xb7ad6b7169203331-01", false, false},
		{"00-" + id + "-b7ad6b7169203331-0g", false, false},
		{"0-" + id + "-b7ad6b7169203331-01", false, false},
		{"", false, false},
	} {
		p, ok := parentOf(http.Header{"Traceparent": {c.text}, "Tracestate": {"x=1"}})
		if ok != c.ok || p.sampled != c.sampled || ok && (hex.EncodeToString(p.trace[:]) != id || hex.EncodeToString(p.id[:]) != "b7ad6b7169203331" || p.state != "x=1") {
			t.Errorf("%q: %+v, %v", c.text, p, ok)
		}
	}
	if _, ok := parentOf(http.Header{}); ok {
		t.Error("a request without the header has a parent")
	}
	if _, ok := parentOf(http.Header{"Traceparent": {traceparent, traceparent}}); ok {
		t.Error("a request with two headers has a parent")
	}
	if p, ok := parentOf(http.Header{"Traceparent": {traceparent}, "Tracestate": {strings.Repeat("x", maxState+1)}}); !ok || p.state != "" {
		t.Errorf("a long tracestate: %+v", p)
	}
}

func TestSampler(t *testing.T) {
	sampled, unsampled := &parent{sampled: true}, &parent{}
	for _, c := range []struct {
		name, argument string
		p              *parent
		least, most    int // of 1,000 traces
	}{
		{"always_on", "", unsampled, 1000, 1000},
		{"always_off", "", sampled, 0, 0},
		{"traceidratio", "0.25", unsampled, 150, 350},
		{"traceidratio", "", nil, 1000, 1000},
		{"traceidratio", "0", nil, 0, 0},
		{"parentbased_always_on", "", nil, 1000, 1000},
		{"parentbased_always_on", "", unsampled, 0, 0},
		{"parentbased_always_off", "", nil, 0, 0},
		{"parentbased_always_off", "", sampled, 1000, 1000},
		{"parentbased_traceidratio", "0.5", nil, 400, 600},
		{"parentbased_traceidratio", "0.5", unsampled, 0, 0},
	} {
		s, err := ParseSampler(c.name, c.argument)
		n := 0
		for range 1000 {
			if s.chooses(newTrace(), c.p) {
				n++
			}
		}
		if err != nil || n < c.least || n > c.most {
			t.Errorf("%s %s %v: %d of 1,000, %v", c.name, c.argument, c.p, n, err)
		}
	}
	for _, x := range [][2]string{{"", ""}, {"parentbased_", ""}, {"jaeger_remote", ""}, {"traceidratio", "1.1"}, {"traceidratio", "NaN"}, {"traceidratio", "x"}} {
		if _, err := ParseSampler(x[0], x[1]); !errors.Is(err, ErrOptions) {
			t.Errorf("%v: %v", x, err)
		}
	}
	if !(Sampler{}).chooses(newTrace(), nil) || (Sampler{}).chooses(newTrace(), unsampled) {
		t.Error("the zero Sampler is not parentbased_always_on")
	}
}

func TestFromEnvironment(t *testing.T) {
	const otlp = "OTEL_EXPORTER_OTLP_"
	for _, c := range []struct {
		variables map[string]string
		endpoint  string
		ignored   string // a part of the error
	}{
		{nil, "", ""},
		{map[string]string{otlp + "ENDPOINT": "http://c:4318"}, "http://c:4318/v1/traces", ""},
		{map[string]string{otlp + "ENDPOINT": "https://c/base/"}, "https://c/base/v1/traces", ""},
		{map[string]string{otlp + "ENDPOINT": "http://c", otlp + "TRACES_ENDPOINT": "http://d/x"}, "http://d/x", ""},
		{map[string]string{otlp + "ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "TRUE"}, "", ""},
		{map[string]string{otlp + "ENDPOINT": "http://c", "OTEL_TRACES_EXPORTER": "none"}, "", ""},
		{map[string]string{otlp + "ENDPOINT": "http://c", "OTEL_TRACES_EXPORTER": "console"}, "http://c/v1/traces", "only otlp and none"},
		{map[string]string{otlp + "ENDPOINT": "http://c", otlp + "PROTOCOL": "grpc"}, "http://c/v1/traces", "only http/protobuf"},
		{map[string]string{otlp + "ENDPOINT": "http://c", otlp + "TRACES_PROTOCOL": "http/protobuf", otlp + "PROTOCOL": "grpc"}, "http://c/v1/traces", ""},
		{map[string]string{otlp + "ENDPOINT": "localhost:4317"}, "", "it is not a URL"},
		{map[string]string{otlp + "ENDPOINT": "http://c", otlp + "TIMEOUT": "soon"}, "http://c/v1/traces", "OTEL_EXPORTER_OTLP_TIMEOUT=soon is ignored"},
		{map[string]string{otlp + "ENDPOINT": "http://c", "OTEL_TRACES_SAMPLER": "x"}, "http://c/v1/traces", "OTEL_TRACES_SAMPLER=x is ignored"},
		{map[string]string{otlp + "ENDPOINT": "http://c", otlp + "HEADERS": "secret"}, "http://c/v1/traces", "OTEL_EXPORTER_OTLP_HEADERS=... is ignored"},
	} {
		o, err := FromEnvironment(func(name string) string { return c.variables[name] })
		if o.Endpoint != c.endpoint || (err == nil) != (c.ignored == "") || err != nil && (!errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), c.ignored)) {
			t.Errorf("%v: %q, %v", c.variables, o.Endpoint, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error has the header: %v", err)
		}
	}
	all := map[string]string{
		otlp + "ENDPOINT": "http://c", otlp + "HEADERS": "a=1, Authorization=Bearer%20x", otlp + "TRACES_HEADERS": "a=2", otlp + "TIMEOUT": "3000",
		otlp + "TRACES_TIMEOUT": "2000", "OTEL_BSP_SCHEDULE_DELAY": "100", "OTEL_SERVICE_NAME": "mine",
		"OTEL_RESOURCE_ATTRIBUTES": "service.name=other,deployment.environment.name=a%2Cb", "OTEL_TRACES_SAMPLER": "always_off",
	}
	o, err := FromEnvironment(func(name string) string { return all[name] })
	if err != nil || o.Headers["a"] != "2" || o.Headers["Authorization"] != "Bearer x" || o.Timeout != 2*time.Second || o.Interval != 100*time.Millisecond || o.Sampler.chooses(newTrace(), nil) {
		t.Errorf("%+v, %v", o, err)
	}
	want := []Attribute{
		Attr("deployment.environment.name", "a,b"), Attr("service.name", "mine"),
		Attr("telemetry.sdk.language", "go"), Attr("telemetry.sdk.name", "gopherwarp"),
	}
	for i, a := range want {
		if len(o.Resource) != len(want) || o.Resource[i] != a {
			t.Fatalf("the resource is %v, want %v", o.Resource, want)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{}, {Endpoint: "c:4318"}, {Endpoint: "http://"}, {Endpoint: "http://c", Timeout: -1}, {Endpoint: "http://c", Interval: -1}} {
		if _, err := New(o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
